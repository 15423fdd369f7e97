import { useState } from 'react';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';

interface FindRequestProps {
  readonly onClose: () => void;
  readonly onFind: (id: string) => void;
}

const ID = /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/i;

/** Opens a request by its id, which may be part of a pasted log line. */
export function FindRequest({ onClose, onFind }: FindRequestProps) {
  const { t } = useLanguage();
  const [text, setText] = useState('');
  const id = ID.exec(text)?.[0];
  const isWrong = text.trim() !== '' && id === undefined;
  return (
    <Dialog isOpen onClose={onClose} title={t('requests.find')}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (id !== undefined) onFind(id.toLowerCase());
        }}
      >
        <TextField
          label={t('requests.id')}
          hint={t('requests.id.hint')}
          problem={isWrong ? t('requests.id.wrong') : undefined}
          value={text}
          onValueChange={(value) => setText(value)}
        />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={id === undefined}>
            {t('requests.open')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
