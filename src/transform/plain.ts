import { compile } from 'html-to-text'

const convert = compile({
  wordwrap: false,
  selectors: [
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'skip' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false } },
  ],
  limits: { maxInputLength: 1_000_000, maxDepth: 60 },
})

/** HTML as readable text: paragraphs on lines of their own, entities as letters, no links, no pictures. */
export const plainText = (html: string): string => convert(html).replaceAll('\u00a0', ' ').trim()
