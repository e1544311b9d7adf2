// The script for bash, also the old one of macOS. It reads the line itself: bash takes words apart at colons.

import { type CompletionNode, quote } from './completion-tree.ts';

export function toBash(nodes: CompletionNode[]): string {
  return `# bash completion of plant-store, made by "plant-store completion bash"
_plant_store() {
  local line=\${COMP_LINE:0:COMP_POINT} path= commands= options= values= files= list= head= i
  local -a words
  read -ra words <<<"$line"
  [[ $line == *[[:blank:]] ]] && words+=('')
  local last=$((\${#words[@]} - 1))
  local cur=\${words[last]} prev=\${words[last - 1]}
  for ((i = 1; i < last; i++)); do
    case "$path \${words[i]}" in
      ${nodes
        .slice(1)
        .map(({ path }) => quote(path))
        .join(' | ')}) path+=" \${words[i]}" ;;
    esac
  done
  if [[ $cur == --*=* ]]; then
    prev=\${cur%%=*}
    cur=\${cur#*=}
  fi
  COMPREPLY=()
  case "$path $prev" in
${nodes.flatMap(valueCases).join('\n')}
  esac
  if [[ -z $values ]]; then
    case $path in
${nodes.map(nodeCase).join('\n')}
    esac
    if [[ $cur == -* || -z $commands$values$files ]]; then
      values=$options
    elif [[ -n $files ]]; then
      compopt -o default 2>/dev/null
      return
    else
      values="$commands $values"
    fi
  elif [[ -n $list ]]; then
    head=\${cur%"\${cur##*,}"}
  fi
  for i in $values; do
    [[ $head$i == "$cur"* ]] && COMPREPLY+=("$head$i")
  done
  if [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]]; then
    head=\${cur%"\${cur##*:}"}
    COMPREPLY=("\${COMPREPLY[@]#"$head"}")
  fi
}
complete -F _plant_store plant-store
`;
}

function valueCases({ path, options }: CompletionNode): string[] {
  return options
    .filter(({ takesValue }) => takesValue)
    .map(({ name, values, isList }) => {
      const known = `values=${quote(values.join(' '))}${isList ? ' list=1' : ''}`;
      return `    ${quote(`${path} ${name}`)}) ${values.length === 0 ? 'return' : known} ;;`;
    });
}

function nodeCase({ path, commands, options, values, takesFile }: CompletionNode): string {
  const sets = [
    `commands=${quote(commands.map(({ name }) => name).join(' '))}`,
    `options=${quote(options.map(({ name }) => name).join(' '))}`,
    `values=${quote(values.join(' '))}`,
    `files=${takesFile ? '1' : ''}`,
  ];
  return `      ${quote(path)}) ${sets.join(' ')} ;;`;
}
