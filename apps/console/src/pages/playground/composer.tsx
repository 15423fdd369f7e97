import { ArrowUp, ImagePlus, Square } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { useLanguage } from '../../preferences/language.tsx';
import { IconButton } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { dataUrlOf, IMAGE_BYTES_MAX, IMAGE_TYPES } from './images.ts';
import { Images } from './images-view.tsx';
import type { Question } from './use-chat.ts';

interface ComposerProps {
  readonly isRunning: boolean;
  readonly onSend: (question: Question) => void;
  readonly onStop: () => void;
  /** What else is decided about the chat, beside the buttons. */
  readonly children: ReactNode;
}

/** Where a question is written. Images are chosen, pasted or dropped. */
export function Composer({ isRunning, onSend, onStop, children }: ComposerProps) {
  const { t, format } = useLanguage();
  const [text, setText] = useState('');
  const [images, setImages] = useState<readonly string[]>([]);
  const [tooLarge, setTooLarge] = useState<string>();
  const picker = useRef<HTMLInputElement>(null);
  const send = (): void => {
    if (text.trim() === '' || isRunning) return;
    onSend({ text, images });
    setText('');
    setImages([]);
  };
  const attach = async (files: readonly File[]): Promise<void> => {
    const shown = files.filter(({ type }) => IMAGE_TYPES.split(',').includes(type));
    setTooLarge(shown.find(({ size }) => size > IMAGE_BYTES_MAX)?.name);
    const fitting = shown.filter(({ size }) => size <= IMAGE_BYTES_MAX);
    const added = await Promise.all(fitting.map(dataUrlOf));
    setImages((all) => [...all, ...added]);
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        void attach([...event.dataTransfer.files]);
      }}
    >
      <Images
        images={images}
        onRemove={(place) => setImages((all) => all.filter((_, other) => other !== place))}
      />
      <TextField
        label={t('playground.message')}
        isLabelHidden
        placeholder={t('playground.placeholder')}
        render={<textarea rows={1} />}
        value={text}
        problem={
          tooLarge === undefined
            ? undefined
            : t('playground.image.large', { name: tooLarge, limit: format.bytes(IMAGE_BYTES_MAX) })
        }
        onValueChange={(value) => setText(value)}
        onPaste={(event) => {
          const files = [...event.clipboardData.files];
          if (files.length === 0) return;
          event.preventDefault();
          void attach(files);
        }}
        onKeyDown={(event) => {
          // Not while an input method composes a character.
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <input
        ref={picker}
        type="file"
        accept={IMAGE_TYPES}
        multiple
        hidden
        onChange={(event) => {
          void attach([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
      <div className="composer-actions">
        <IconButton label={t('playground.image.add')} onClick={() => picker.current?.click()}>
          <ImagePlus aria-hidden size={16} />
        </IconButton>
        {children}
        <span className="composer-hint">{t('playground.keys')}</span>
        {isRunning ? (
          <IconButton className="composer-send" label={t('playground.stop')} onClick={onStop}>
            <Square aria-hidden size={14} fill="currentcolor" />
          </IconButton>
        ) : (
          <IconButton
            className="button-primary composer-send"
            type="submit"
            label={t('playground.send')}
            disabled={text.trim() === ''}
          >
            <ArrowUp aria-hidden size={16} />
          </IconButton>
        )}
      </div>
    </form>
  );
}
