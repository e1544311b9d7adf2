// Differences between two versions of a plant, word by word. The old words are struck through, the new ones marked.

import { diffWordsWithSpace } from 'diff';
import type { NewPlant } from 'plant-store/client';
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';
import { shorten } from './plant-text.tsx';

/** Longer or very different texts are compared as a whole, because comparing their words would block the page. */
const MAX_CHARS = 5000;
const MAX_EDITS = 100;

type Text = string | undefined;

/** The old version, with the words that the new one lacks marked as removed. Without such words all are marked. */
export function Before({ from, to }: { from: Text; to: Text }) {
  return <Side from={from} to={to} kind="del" />;
}

/** The new version, with the words that the old one lacked marked as added. */
export function After({ from, to }: { from: Text; to: Text }) {
  return <Side from={from} to={to} kind="ins" />;
}

/** A changed field in one line: the old version, an arrow and the new version. */
export function FieldDiff({ field, from, to }: { field: string; from: Text; to: Text }) {
  return (
    <span class="ch">
      <span class="ch-f">{field}</span>
      <span>
        <Before from={from} to={to} />
      </span>
      <span class="to">
        <Icon name="right" />
        <span class="unseen">became</span>
        <span>
          <After from={from} to={to} />
        </span>
      </span>
    </span>
  );
}

/** The fields that differ, each in one line. Texts are cut after `maxChars`. */
export function PlantDiff({ from, to, maxChars = MAX_CHARS }: { from: NewPlant; to: NewPlant; maxChars?: number }) {
  const cut = (text: Text) => (text === undefined ? undefined : shorten(text, maxChars));
  return (
    <>
      {from.name !== to.name && <FieldDiff field="Name" from={cut(from.name)} to={cut(to.name)} />}
      {from.tag !== to.tag && <FieldDiff field="Tag" from={cut(from.tag)} to={cut(to.tag)} />}
    </>
  );
}

function Side({ from, to, kind }: { from: Text; to: Text; kind: 'del' | 'ins' }) {
  const own = kind === 'del' ? from : to;
  if (from === to) return <Value of={own} />;
  const parts = compare(from, to)?.filter(({ added, removed }) => (kind === 'del' ? !added : !removed));
  if (!parts || (kind === 'del' && !parts.some(({ removed }) => removed))) return <Mark kind={kind} of={own} />;
  return (
    <bdi>
      {parts.map(({ value, added, removed }, at) => (
        <Part key={at} kind={added || removed ? kind : undefined} text={value} />
      ))}
    </bdi>
  );
}

/** A part of a text. Spaces at the edges of a changed part are not marked, unless nothing else changed. */
function Part({ kind: Element, text }: { kind: 'del' | 'ins' | undefined; text: string }): ComponentChildren {
  const core = text.trim();
  if (!Element) return text;
  if (core === '') return <Element>{text}</Element>;
  const start = text.indexOf(core);
  return (
    <>
      {text.slice(0, start)}
      <Element>{core}</Element>
      {text.slice(start + core.length)}
    </>
  );
}

function Mark({ kind: Element, of }: { kind: 'del' | 'ins'; of: Text }): ComponentChildren {
  return (
    <Element>
      <bdi>{wordFor(of)}</bdi>
    </Element>
  );
}

function Value({ of }: { of: Text }) {
  return of === undefined || of.trim() === '' ? <span class="none">{wordFor(of)}</span> : <bdi>{of}</bdi>;
}

/** Returns the text, or a word if there is nothing to see. */
function wordFor(text: Text): string {
  if (text === undefined) return 'none';
  if (text === '') return 'empty';
  return text.trim() === '' ? 'blank' : text;
}

/** Returns the common and the differing words. Undefined if the texts should be shown as a whole. */
function compare(from: Text, to: Text) {
  if (!isComparable(from) || !isComparable(to)) return undefined;
  return diffWordsWithSpace(from, to, { maxEditLength: MAX_EDITS });
}

function isComparable(text: Text): text is string {
  return text !== undefined && text.trim() !== '' && text.length <= MAX_CHARS;
}
