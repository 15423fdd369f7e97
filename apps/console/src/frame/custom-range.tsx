import { useState } from 'react';
import { useLanguage } from '../preferences/language.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';

interface CustomRangeProps {
  readonly initial: { readonly from: Date; readonly to: Date };
  readonly onClose: () => void;
  readonly onApply: (from: Date, to: Date) => void;
}

/** Asks for the two ends of a time range. */
export function CustomRange({ initial, onClose, onApply }: CustomRangeProps) {
  const { t } = useLanguage();
  const [from, setFrom] = useState(() => localTime(initial.from));
  const [to, setTo] = useState(() => localTime(initial.to));
  // As moments: where clocks are changed, an hour of the day is missing or is there twice.
  const isValid = Date.parse(from) < Date.parse(to);
  return (
    <Dialog isOpen onClose={onClose} title={t('frame.range')}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isValid) onApply(new Date(from), new Date(to));
        }}
      >
        <TextField
          label={t('frame.range.from')}
          type="datetime-local"
          value={from}
          onValueChange={(value) => setFrom(value)}
        />
        <TextField
          label={t('frame.range.to')}
          type="datetime-local"
          value={to}
          onValueChange={(value) => setTo(value)}
        />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={!isValid}>
            {t('frame.range.apply')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** In the form of an input, in the zone of the viewer. */
function localTime(time: Date): string {
  const shifted = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}
