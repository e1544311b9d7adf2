// The request for this plant as a curl command, in TypeScript and for the command line.

import { useState } from 'preact/hooks';
import { Code } from '../shared/copy.tsx';
import { Segments } from '../shared/field.tsx';

const LANGUAGES = ['curl', 'TypeScript', 'CLI'] as const;
type Language = (typeof LANGUAGES)[number];

export function CopyAs({ id }: { id: bigint }) {
  const [language, setLanguage] = useState<Language>('curl');
  return (
    <section class="sec" aria-label="Copy as">
      <div class="sec-head">
        <h3>Copy as</h3>
        <Segments<Language>
          label="Language"
          class="s"
          value={language}
          options={LANGUAGES.map((value) => ({ value, content: value }))}
          onChange={setLanguage}
        />
      </div>
      <Code text={codeFor(language, id)} label={language === 'curl' ? 'curl command' : language} />
    </section>
  );
}

function codeFor(language: Language, id: bigint): string {
  const url = new URL('.', location.href).href.replace(/\/$/, '');
  if (language === 'curl') return `curl ${url}/plants/${id} \\\n  -H "Authorization: Bearer $TOKEN"`;
  if (language === 'CLI') return `plant-store get ${id} --url ${url}`;
  return [
    "import { createClient } from 'plant-store/client';",
    `const store = createClient({ url: '${url}', token });`,
    `const { record } = await store.get(${id}n);`,
  ].join('\n');
}
