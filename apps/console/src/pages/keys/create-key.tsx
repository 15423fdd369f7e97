import { useMemo, useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { trimmedText } from '../../ui/form-text.ts';
import { Select } from '../../ui/select.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { KeyLimits } from './key-form.tsx';
import { settingsOf } from './key-settings.ts';

const NO_GROUP = '';

/** Creates a key, then shows it once. */
export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLanguage();
  const api = useApi();
  const groups = useQuery(api.query('group.list')).data;
  const payers = useMemo(
    () => [
      { value: NO_GROUP, label: t('keys.payer.self') },
      // Only the name: a text for each of thousands of groups takes long.
      ...(groups ?? []).map(({ id, name }) => ({ value: id, label: name })),
    ],
    [groups, t],
  );
  const create = useCall('keys.create', { changes: ['keys.list'] });
  const [group, setGroup] = useState(NO_GROUP);
  // Most keys have none, and the fields take longer than the rest of the dialog.
  const [hasLimits, setHasLimits] = useState(false);
  if (create.data !== undefined)
    return <SecretDialog of="keys" secret={create.data.key} onClose={onClose} />;
  const { fields } = problemOf(create.error);
  return (
    <Dialog isOpen isWaiting={create.isPending} onClose={onClose} title={t('keys.create.title')}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const project = trimmedText(form, 'project');
          create.mutate({
            name: trimmedText(form, 'name'),
            ...(project === '' ? {} : { project }),
            ...(group === NO_GROUP ? {} : { group_id: group }),
            ...settingsOf(form),
          });
        }}
      >
        <TextField label={t('keys.name')} name="name" problem={fields['name']} required />
        <TextField
          label={t('keys.project')}
          name="project"
          hint={t('keys.project.hint')}
          problem={fields['project']}
        />
        {payers.length === 1 ? null : (
          <Select label={t('keys.payer')} value={group} choices={payers} onChange={setGroup} />
        )}
        <details
          className="details"
          onToggle={({ currentTarget: { open } }) => {
            if (open) setHasLimits(true);
          }}
        >
          <summary>{t('keys.limits')}</summary>
          {hasLimits ? (
            <div className="form">
              <KeyLimits error={create.error} />
            </div>
          ) : null}
        </details>
        <ErrorNote error={create.error} />
        <div className="dialog-actions">
          <Button disabled={create.isPending} onClick={onClose}>
            {t('action.cancel')}
          </Button>
          <Button kind="primary" type="submit" disabled={create.isPending}>
            {t('keys.create.submit')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
