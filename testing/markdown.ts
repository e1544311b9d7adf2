// Reads the parts of a Markdown page that tests check: fenced blocks, headings, links and sentences.

/** A fenced block, with the HTML comments that stand directly before it. */
export interface Block {
  language: string;
  text: string;
  /** Comments such as `run: background`, without their brackets. */
  comments: string[];
}

const FENCE = /^```(\w*)\n(.*?)^```$/gms;
const COMMENT = /^<!-- (.*) -->$/gm;
const COMMENTS_BEFORE = /(?:^<!-- .* -->\n+)+(?![\s\S])/m;

/** Returns the fenced blocks of a page from top to bottom. */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(FENCE)].map(({ index, 1: language = '', 2: text = '' }) => {
    const [comments = ''] = COMMENTS_BEFORE.exec(page.slice(0, index)) ?? [];
    return { language, text, comments: [...comments.matchAll(COMMENT)].map(([, comment = '']) => comment) };
  });
}

/** Returns the anchors that GitHub gives to the headings of a page. */
export function anchorsOf(page: string): string[] {
  const seen = new Map<string, number>();
  return [...withoutBlocks(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const slug = plainText(heading)
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-');
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}

/** Returns the targets of all links and images of a page. */
export function linksOf(page: string): string[] {
  const text = withoutBlocks(page).replaceAll(/`[^`\n]*`/g, '');
  const inline = [...text.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)];
  const references = [...text.matchAll(/^\[[^\]]+\]: (\S+)/gm)];
  const html = [...text.matchAll(/\b(?:src|href)="([^"]+)"/g)];
  return [...inline, ...references, ...html].map(([, target = '']) => target);
}

/** Returns the sentences of the running text: paragraphs and list items, without headings, tables and blocks. */
export function sentencesOf(page: string): string[] {
  const lines = withoutBlocks(page).replaceAll(COMMENT, '').split('\n');
  const prose = lines.map((line) => (/^(#|\||!\[|<)/.test(line.trim()) ? '' : line));
  const paragraphs = prose.join('\n').split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/);
  return paragraphs.flatMap((paragraph) =>
    plainText(paragraph.replace(/^\s*(?:[-*]|\d+\.) /, ''))
      .split(/(?<=[.!?:])["')*]*\s+(?=\S)/)
      .map((sentence) => sentence.trim())
      .filter((sentence) => /\p{L}/u.test(sentence)),
  );
}

/** Returns the number of words; a code span counts as one. */
export function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}

function withoutBlocks(page: string): string {
  return page.replaceAll(FENCE, '');
}

/** Returns the text of inline Markdown. Code spans lose their blanks, so that each is one word. */
function plainText(markdown: string): string {
  return markdown
    .replaceAll(/`+([^`]+)`+/g, (_, code: string) => code.replaceAll(/\s+/g, '_').replaceAll(/[.!?:]+$/g, ''))
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[*]{1,2}([^*]+)[*]{1,2}/g, '$1')
    .replaceAll(/\s+/g, ' ');
}
