/** Replaces the package string-width in the built program: it makes a segmenter of letters when it is loaded, and most texts need none. */

export { width as default } from '../src/cli/terminal/width.ts'
