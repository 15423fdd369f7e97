import { ImagePlus, Square } from 'lucide-react';
import { useRef, useState } from 'react';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { dataUrlOf, IMAGE_BYTES_MAX, IMAGE_TYPES } from './images.ts';
import { Images } from './turn-view.tsx';
import type { Question } from './use-chat.ts';

interface ComposerProps {
  readonly isRunning: boolean;
  readonly onSend: (question: Question) => void;
  readonly onStop: () => void;
}

/** Where a question is written, with images. */
export function Composer({ isRunning, onSend, onStop }: ComposerProps) {
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
    setTooLarge(files.find(({ size }) => size > IMAGE_BYTES_MAX)?.name);
    const fitting = files.filter(({ size }) => size <= IMAGE_BYTES_MAX);
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
    >
      <TextField
        label={t('playground.message')}
        placeholder={t('playground.placeholder')}
        render={<textarea rows={3} />}
        value={text}
        problem={
          tooLarge === undefined
            ? undefined
            : t('playground.image.large', { name: tooLarge, limit: format.bytes(IMAGE_BYTES_MAX) })
        }
        onValueChange={(value) => setText(value)}
        onKeyDown={(event) => {
          // Not while an input method composes a character.
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <Images images={images} />
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
        {images.length === 0 ? null : (
          <Button onClick={() => setImages([])}>{t('playground.image.remove')}</Button>
        )}
        <Button onClick={() => picker.current?.click()}>
          <ImagePlus aria-hidden size={14} /> {t('playground.image.add')}
        </Button>
        {isRunning ? (
          <Button onClick={onStop}>
            <Square aria-hidden size={14} /> {t('playground.stop')}
          </Button>
        ) : (
          <Button kind="primary" type="submit" disabled={text.trim() === ''}>
            {t('playground.send')}
          </Button>
        )}
      </div>
    </form>
  );
}
