import { useState } from 'react';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';

interface TurnEditProps {
  readonly text: string;
  readonly onClose: () => void;
  readonly onSend: (text: string) => void;
}

/** Changes a question; what came after it is replaced by the new answer. */
export function TurnEdit({ text, onClose, onSend }: TurnEditProps) {
  const { t } = useLanguage();
  const [edited, setEdited] = useState(text);
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        onClose();
        onSend(edited);
      }}
    >
      <TextField
        label={t('playground.edit')}
        isLabelHidden
        render={<textarea rows={3} />}
        value={edited}
        onValueChange={(value) => setEdited(value)}
      />
      <div className="dialog-actions">
        <Button onClick={onClose}>{t('action.cancel')}</Button>
        <Button kind="primary" type="submit" disabled={edited.trim() === ''}>
          {t('playground.send')}
        </Button>
      </div>
    </form>
  );
}
