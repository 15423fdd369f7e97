import type { RpcResult } from '@model-gateway/contracts';
import { useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useCall } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { trimmedText } from '../../ui/form-text.ts';
import { Select } from '../../ui/select.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { KeyLimits } from './key-form.tsx';
import { settingsOf } from './key-settings.ts';

type Key = RpcResult<'keys.list'>[number];

interface KeyDialogProps {
  readonly subject: Key;
  readonly onClose: () => void;
}

/** Changes the name and limits of a key. */
export function EditKey({ subject, onClose }: KeyDialogProps) {
  const { t } = useLanguage();
  const update = useCall('keys.update', { changes: ['keys.list'] });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t('keys.edit.title', { name: subject.name })}
      description={t('keys.edit.text')}
    >
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          update.mutate(
            { key_id: subject.id, name: trimmedText(form, 'name'), ...settingsOf(form) },
            { onSuccess: onClose },
          );
        }}
      >
        <TextField
          label={t('keys.name')}
          name="name"
          defaultValue={subject.name}
          problem={problemOf(update.error).fields['name']}
          required
        />
        <KeyLimits current={subject} error={update.error} />
        <ErrorNote error={update.error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={update.isPending}>
            {t('action.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

const GRACES = ['0', '3600', '86400', '604800'] as const;
type Grace = (typeof GRACES)[number];

/** Gives a key a new secret; the one before may work for a time. */
export function RotateKey({ subject, onClose }: KeyDialogProps) {
  const { t } = useLanguage();
  const rotate = useCall('keys.rotate', { changes: ['keys.list'] });
  const [grace, setGrace] = useState<Grace>('86400');
  if (rotate.data !== undefined)
    return <SecretDialog of="keys" secret={rotate.data.key} onClose={onClose} />;
  return (
    <Dialog
      isOpen
      isWaiting={rotate.isPending}
      onClose={onClose}
      title={t('keys.rotate.title', { name: subject.name })}
      description={t('keys.rotate.text', { hint: subject.key_hint })}
    >
      <Select
        label={t('keys.grace')}
        value={grace}
        choices={GRACES.map((value) => ({ value, label: t(`keys.grace.${value}`) }))}
        onChange={setGrace}
      />
      <ErrorNote error={rotate.error} />
      <div className="dialog-actions">
        <Button disabled={rotate.isPending} onClick={onClose}>
          {t('action.cancel')}
        </Button>
        <Button
          kind="primary"
          disabled={rotate.isPending}
          onClick={() => rotate.mutate({ key_id: subject.id, grace_secs: Number(grace) })}
        >
          {t('keys.rotate.submit')}
        </Button>
      </div>
    </Dialog>
  );
}

/** Stops a key, and says what stops with it. */
export function RevokeKey({ subject, onClose }: KeyDialogProps) {
  const { t, format } = useLanguage();
  const revoke = useCall('keys.revoke', { changes: ['keys.list'] });
  const used =
    subject.last_used_at === null
      ? t('keys.revoke.unused')
      : t('keys.revoke.used', { time: format.relative(subject.last_used_at) });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('keys.revoke.title', { name: subject.name })}
      text={`${t('keys.revoke.text', { hint: subject.key_hint })} ${used}`}
      action={t('keys.revoke.submit')}
      isPending={revoke.isPending}
      error={revoke.error}
      onConfirm={() => revoke.mutate({ key_id: subject.id }, { onSuccess: onClose })}
    />
  );
}
