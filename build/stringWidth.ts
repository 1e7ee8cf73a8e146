/** Replaces the package string-width in a built program: the package creates a text segmenter when it is loaded, which most texts do not need. */

export { width as default } from '../src/cli/terminal/width.ts'
