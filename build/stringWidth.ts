/** What stands for the package string-width in a built program: it makes a segmenter of all letters when it is loaded, and most texts need none. */

export { width as default } from '../src/cli/terminal/width.ts'
