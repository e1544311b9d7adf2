// The icons are symbols in index.html, because the content security policy allows no markup from scripts.

export function Icon({ name, class: extra }: { name: string; class?: string }) {
  return (
    <svg class={extra ? `i ${extra}` : 'i'} aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}

/** The keys of a shortcut. */
export function Keys({ of }: { of: string[] }) {
  return (
    <>
      {of.map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </>
  );
}
