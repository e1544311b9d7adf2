// The name and the tag of the open plant, which become fields on a click. Escape leaves a field and keeps the edit.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from '../shared/icon.tsx';
import { Name, Tag, TagDot } from '../shared/plant-text.tsx';
import { NameField } from './name-field.tsx';
import { TagField } from './tag-field.tsx';

interface Props {
  isOpen: boolean;
  canEdit: boolean;
  isEdited: boolean;
  onOpen(): void;
  onClose(): void;
  onSave(): void;
}

export function NameEdit(props: Props & { name: string; onChange(name: string): void }) {
  const { name, isOpen, canEdit, isEdited, onOpen, onClose, onSave, onChange } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const button = useFocusAfter(isOpen);
  useLayoutEffect(() => {
    if (!isOpen) return;
    field.current?.focus();
    field.current?.select();
  }, [isOpen]);
  if (!canEdit) {
    return (
      <h2 class="specimen">
        <Name of={name} />
      </h2>
    );
  }
  if (!isOpen) {
    return (
      <h2 class="specimen">
        <button ref={button} type="button" class="inline-edit" title="Edit name (E)" onClick={onOpen}>
          <Name of={name} />
          <Icon name="pencil" />
          {isEdited && <span class="badge">Not saved</span>}
        </button>
      </h2>
    );
  }
  return (
    <div class="specimen">
      <h2 class="unseen">{name.trim() === '' ? 'Empty name' : name}</h2>
      <NameField
        field={field}
        value={name}
        onChange={onChange}
        onKeyDown={(event) => keepOrSave(event, onClose, onSave)}
      />
    </div>
  );
}

export function TagEdit(props: Props & { tag: string | undefined; onChange(tag: string | undefined): void }) {
  const { tag, isOpen, canEdit, isEdited, onOpen, onClose, onSave, onChange } = props;
  const button = useFocusAfter(isOpen);
  if (!canEdit) return <Tag of={tag} />;
  if (!isOpen) {
    return (
      <button ref={button} type="button" class="inline-edit" title="Edit tag (T)" onClick={onOpen}>
        <Tag of={tag} />
        <Icon name="pencil" />
        {isEdited && <span class="badge">Not saved</span>}
      </button>
    );
  }
  return (
    <span class="combo with-btn">
      <span class="field-wrap grow">
        <TagDot of={tag} />
        <TagField
          value={tag ?? ''}
          takesFocus
          placeholder="No tag"
          onChange={(text) => onChange(text === '' ? undefined : text)}
          onKeyDown={(event) => keepOrSave(event, onClose, onSave)}
        />
      </span>
      {tag !== undefined && (
        <button type="button" class="btn" onClick={() => onChange(undefined)}>
          No tag
        </button>
      )}
    </span>
  );
}

/** Moves the focus from a field that closes to the button that takes its place. */
function useFocusAfter(isOpen: boolean) {
  const button = useRef<HTMLButtonElement>(null);
  const wasOpen = useRef(false);
  useLayoutEffect(() => {
    if (wasOpen.current && document.activeElement === document.body) button.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return button;
}

function keepOrSave(
  event: KeyboardEvent & { preventBaseUIHandler?(): void },
  onClose: () => void,
  onSave: () => void,
): void {
  if (event.isComposing) return;
  const isListOpen = (event.currentTarget as HTMLElement).getAttribute('aria-activedescendant');
  if (event.key === 'Escape') onClose();
  else if (event.key === 'Enter' && !event.shiftKey && !isListOpen) onSave();
  else return;
  event.preventBaseUIHandler?.(); // Escape would clear the field.
  event.preventDefault();
  event.stopPropagation();
}
