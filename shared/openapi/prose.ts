/**
 * The text of a template literal as Markdown: an indented line goes on with the paragraph or the list item before it, and
 * an empty line ends the paragraph.
 */
export const prose = (text: string): string =>
  text
    .trim()
    .split(/\n\s*\n/)
    .map((paragraph) =>
      paragraph
        .trim()
        .split('\n')
        .map((line) => line.trim())
        .reduce((before, line) => `${before}${/^[-|]/.test(line) ? '\n' : ' '}${line}`),
    )
    .join('\n\n');
