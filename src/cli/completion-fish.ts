// The script for fish.

import { type CompletionNode, quote, quoteAll } from './completion-tree.ts';

export function toFish(nodes: CompletionNode[]): string {
  return `# fish completion of plant-store, made by "plant-store completion fish"
function __plant_store_at
    set -l at ''
    set -l words (commandline -opc)
    for word in $words[2..-1]
        switch "$at $word"
            case ${quoteAll(nodes.slice(1).map(({ path }) => path))}
                set at "$at $word"
        end
    end
    test "$at" = "$argv"
end

function __plant_store_list
    set -l head (string match -r '^.*,' -- (commandline -ct | string replace -r '^--[^=]*=' ''))
    for value in $argv
        echo "$head$value"
    end
end

complete -c plant-store -e
complete -c plant-store -f
${nodes.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ path, commands, options, values, takesFile }: CompletionNode): string[] {
  const here = `complete -c plant-store -n ${quote(`__plant_store_at ${quote(path)}`)}`;
  return [
    ...commands.map(({ name, description }) => `${here} -a ${quote(name)} -d ${quote(description)}`),
    ...values.map((value) => `${here} -a ${quote(value)}`),
    ...(takesFile ? [`${here} -F`] : []),
    ...options.map(({ name, description, takesValue, values: fixed, isList }) => {
      const offered = isList ? `(__plant_store_list ${quoteAll(fixed)})` : fixed.join(' ');
      const value = takesValue ? ` -x${fixed.length > 0 ? ` -a ${quote(offered)}` : ''}` : '';
      return `${here} -l ${quote(name.replace(/^--/, ''))}${value} -d ${quote(description)}`;
    }),
  ];
}
