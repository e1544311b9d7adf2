// plant-store completion bash | zsh | fish: a script made from the commands themselves, so that it knows them all.

import { Argument, type Command } from 'commander';
import { type CliCommand, FixedOption } from './declare.ts';
import { writeOut } from './terminal/report.ts';

/** What can follow a command on the command line. */
interface Node {
  /** Words after `plant-store`, each with a blank before it: ` token create`. */
  path: string;
  commands: { name: string; description: string }[];
  options: { name: string; description: string; takesValue: boolean; values: readonly string[]; isList: boolean }[];
  /** Of its argument, where they are fixed. */
  values: readonly string[];
  takesFile: boolean;
}

const PRINTERS = { bash: toBash, zsh: toZsh, fish: toFish };

export function declareCompletion(command: CliCommand): void {
  command
    .addArgument(new Argument('<shell>', 'whose script to print').choices(Object.keys(PRINTERS)))
    .notes(`
Once for each shell, and again after an update; then open a new terminal:
  mkdir -p ~/.local/share/bash-completion/completions
  plant-store completion bash > ~/.local/share/bash-completion/completions/plant-store
  plant-store completion zsh > "\${fpath[1]}/_plant-store"
  plant-store completion fish > ~/.config/fish/completions/plant-store.fish`)
    .examples(
      'source <(plant-store completion bash)   (for this terminal only)',
      'source <(plant-store completion zsh)',
      'plant-store completion fish | source',
    )
    .action(async (shell: keyof typeof PRINTERS) => {
      const nodes = toNodes(command.parent as CliCommand);
      const paths = nodes.slice(1).map(({ path }) => quote(path));
      await writeOut(command.io.stdout, [PRINTERS[shell](nodes, paths)]);
    });
}

/** Returns the node of a command and those below it. The argument of `help` is one of its `siblings`. */
function toNodes(command: Command, path = '', siblings: string[] = []): Node[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const names = commands.map((each) => each.name()).filter((name) => name !== 'help');
  const [argument] = command.registeredArguments;
  const node = {
    path,
    commands: commands.map((each) => ({ name: each.name(), description: each.description() })),
    options: help.visibleOptions(command).map((option) => ({
      name: option.long ?? option.flags,
      description: option.description,
      takesValue: option.required || option.optional,
      values: option instanceof FixedOption ? option.values : [],
      isList: option instanceof FixedOption && option.isList,
    })),
    values: command.name() === 'help' ? siblings : (argument?.argChoices ?? []),
    takesFile: argument?.name() === 'file',
  };
  return [node, ...commands.flatMap((each) => toNodes(each, `${path} ${each.name()}`, names))];
}

/** For bash, also the old one of macOS. It reads the line itself: bash takes words apart at colons. */
function toBash(nodes: Node[], paths: string[]): string {
  const valueCases = optionsWithValue(nodes).map(({ at, values, isList }) => {
    const known = `values=${quote(values.join(' '))}${isList ? ' list=1' : ''}`;
    return `    ${at}) ${values.length === 0 ? 'return' : known} ;;`;
  });
  const nodeCases = nodes.map(({ path, commands, options, values, takesFile }) => {
    const [commandNames, optionNames] = [commands, options].map((named) => named.map(({ name }) => name).join(' '));
    const lists = `commands='${commandNames}' options='${optionNames}' values=${quote(values.join(' '))}`;
    return `      ${quote(path)}) ${lists} files=${takesFile ? '1' : ''} ;;`;
  });
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
      ${paths.join(' | ')}) path+=" \${words[i]}" ;;
    esac
  done
  if [[ $cur == --*=* ]]; then
    prev=\${cur%%=*}
    cur=\${cur#*=}
  fi
  COMPREPLY=()
  case "$path $prev" in
${valueCases.join('\n')}
  esac
  if [[ -z $values ]]; then
    case $path in
${nodeCases.join('\n')}
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

/** For zsh, as a file in its fpath or sourced. */
function toZsh(nodes: Node[], paths: string[]): string {
  const valueCases = optionsWithValue(nodes).map(({ at, values, isList }) => {
    const add = isList ? "compset -P '*,'; compadd -S '' --" : 'compadd --';
    return `    (${at}) ${values.length === 0 ? "_message 'a value'" : `${add} ${quoteAll(values)}`}; return ;;`;
  });
  const nodeCases = nodes.map(({ path, commands, options, values, takesFile }) => {
    const hasArgument = commands.length + values.length > 0 || takesFile;
    const steps = [
      `options=(${describeAll(options)})`,
      ...(commands.length > 0 ? [`commands=(${describeAll(commands)})`, '_describe command commands'] : []),
      ...(values.length > 0 ? [`compadd -- ${quoteAll(values)}`] : []),
      ...(takesFile ? ['_files'] : []),
      `[[ $PREFIX == -* || -z "${hasArgument ? 1 : ''}" ]] && _describe -o option options`,
    ];
    return `    (${quote(path)}) ${steps.join('; ')} ;;`;
  });
  return `#compdef plant-store
# zsh completion of plant-store, made by "plant-store completion zsh"
_plant_store() {
  local at= prev=$words[CURRENT-1] i
  local -a commands options
  for ((i = 2; i < CURRENT; i++)); do
    case "$at $words[i]" in
      (${paths.join('|')}) at+=" $words[i]" ;;
    esac
  done
  if [[ $words[CURRENT] == --*=* ]]; then
    prev=\${words[CURRENT]%%=*}
    compset -P '--*='
  fi
  case "$at $prev" in
${valueCases.join('\n')}
  esac
  case $at in
${nodeCases.join('\n')}
  esac
}
if [[ \${funcstack[1]} == _plant_store ]]; then
  _plant_store "$@"
else
  compdef _plant_store plant-store
fi
`;
}

function toFish(nodes: Node[], paths: string[]): string {
  const lines = nodes.flatMap(({ path, commands, options, values, takesFile }) => [
    ...commands.map(({ name, description }) => `-n ${at(path)} -a ${quote(name)} -d ${quote(description)}`),
    ...values.map((value) => `-n ${at(path)} -a ${quote(value)}`),
    ...(takesFile ? [`-n ${at(path)} -F`] : []),
    ...options.map(({ name, description, takesValue, values: fixed, isList }) => {
      const offered = isList ? `(__plant_store_list ${quoteAll(fixed)})` : fixed.join(' ');
      const value = takesValue ? ` -x${fixed.length > 0 ? ` -a ${quote(offered)}` : ''}` : '';
      return `-n ${at(path)} -l ${quote(name.replace(/^--/, ''))}${value} -d ${quote(description)}`;
    }),
  ]);
  return `# fish completion of plant-store, made by "plant-store completion fish"
function __plant_store_at
    set -l at ''
    set -l words (commandline -opc)
    for word in $words[2..-1]
        switch "$at $word"
            case ${paths.join(' ')}
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

${['-e', '-f', ...lines].map((line) => `complete -c plant-store ${line}\n`).join('')}`;

  function at(path: string): string {
    return quote(`__plant_store_at ${quote(path)}`);
  }
}

/** Returns the options that take a value. `at` is the command and the option before the value, quoted. */
function optionsWithValue(nodes: Node[]) {
  return nodes.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map((option) => ({ ...option, at: quote(`${path} ${option.name}`) })),
  );
}

/** As zsh describes words: a name ends at the first colon that has no backslash. */
function describeAll(named: { name: string; description: string }[]): string {
  return quoteAll(named.map(({ name, description }) => `${name.replaceAll(':', '\\:')}:${description}`));
}

/** As all three shells read it. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function quoteAll(texts: readonly string[]): string {
  return texts.map(quote).join(' ');
}
