// The environment of a machine that has Node and npm, and nothing of this project.

import { delimiter, dirname } from 'node:path';

/** Returns the environment of a machine that has nothing of this project, with the given Node, if any, first in PATH. */
export function plainEnvironment(node?: string): NodeJS.ProcessEnv {
  const path = (process.env.PATH ?? '').split(delimiter).filter((place) => !place.includes('node_modules'));
  const kept = Object.entries(process.env).filter(
    ([name]) => leadsToRegistry(name) || /^(home|systemroot)$/i.test(name),
  );
  const first = node === undefined ? [] : [dirname(node)];
  return { ...Object.fromEntries(kept), PATH: [...first, ...path].join(delimiter) };
}

/** True if npm may need this setting to reach its registry, such as the certificate of a proxy. */
export function leadsToRegistry(name: string): boolean {
  return /^(npm_config_(registry|userconfig|globalconfig|cache|cafile|(https_?|no)?_?proxy)|(https?|no)_proxy|NODE_EXTRA_CA_CERTS)$/i.test(
    name,
  );
}
