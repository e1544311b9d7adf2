// The script for zsh, as a file in its fpath or sourced.

import { type CompletionNode, type Named, quote, quoteAll } from './completion-tree.ts';

export function toZsh(nodes: CompletionNode[]): string {
  return `#compdef plant-store
# zsh completion of plant-store, made by "plant-store completion zsh"
_plant_store() {
  local at= prev=$words[CURRENT-1] i
  local -a commands options
  for ((i = 2; i < CURRENT; i++)); do
    case "$at $words[i]" in
      (${nodes
        .slice(1)
        .map(({ path }) => quote(path))
        .join('|')}) at+=" $words[i]" ;;
    esac
  done
  if [[ $words[CURRENT] == --*=* ]]; then
    prev=\${words[CURRENT]%%=*}
    compset -P '--*='
  fi
  case "$at $prev" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  case $at in
${nodes.map(nodeCase).join('\n')}
  esac
}
if [[ \${funcstack[1]} == _plant_store ]]; then
  _plant_store "$@"
else
  compdef _plant_store plant-store
fi
`;
}

function valueCases({ path, options }: CompletionNode): string[] {
  return options
    .filter(({ takesValue }) => takesValue)
    .map(({ name, values, isList }) => {
      const add = isList ? "compset -P '*,'; compadd -S '' --" : 'compadd --';
      const offer = values.length === 0 ? "_message 'a value'" : `${add} ${quoteAll(values)}`;
      return `    (${quote(`${path} ${name}`)}) ${offer}; return ;;`;
    });
}

function nodeCase({ path, commands, options, values, takesFile }: CompletionNode): string {
  const steps = [
    `options=(${quoteAll(options.map(described))})`,
    ...(commands.length > 0 ? [`commands=(${quoteAll(commands.map(described))})`, '_describe command commands'] : []),
    ...(values.length > 0 ? [`compadd -- ${quoteAll(values)}`] : []),
    ...(takesFile ? ['_files'] : []),
    `[[ $PREFIX == -* || -z "${commands.length + values.length || takesFile ? 1 : ''}" ]] && _describe -o option options`,
  ];
  return `    (${quote(path)}) ${steps.join('; ')} ;;`;
}

/** The name ends at the first colon that has no backslash. */
function described({ name, description }: Named): string {
  return `${name.replaceAll(':', '\\:')}:${description}`;
}
