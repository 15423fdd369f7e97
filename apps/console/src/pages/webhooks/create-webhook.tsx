import { useMemo, useState } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useApi, useCall, useUser } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { CheckList } from '../../ui/check-list.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { Select } from '../../ui/select.tsx';
import { eventsOf, isReceiver, type WebhookEvent } from './webhook-events.ts';

const PLATFORM = '';
const FORMATS = ['standard', 'slack'] as const;

/** Creates a webhook, then shows its signing secret once. */
export function CreateWebhook({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLanguage();
  const create = useCall('webhooks.create', { changes: ['webhooks.list'] });
  const [url, setUrl] = useState('');
  const [format, setFormat] = useState<(typeof FORMATS)[number]>('standard');
  const [events, setEvents] = useState<readonly WebhookEvent[]>([]);
  const [isChecked, setChecked] = useState(false);
  const owners = useOwners();
  const [chosen, setOwner] = useState<string>();
  const owner = chosen ?? owners[0]?.value ?? PLATFORM;
  const groupId = owner === PLATFORM ? undefined : owner;
  const offered = eventsOf(groupId);
  const wanted = offered.filter((event) => events.includes(event));
  if (create.data !== undefined)
    return <SecretDialog of="webhooks" secret={create.data.secret} onClose={onClose} />;
  const urlProblem = isReceiver(url.trim()) ? undefined : t('webhooks.form.url.problem');
  const { fields } = problemOf(create.error);
  return (
    <Dialog isOpen isWaiting={create.isPending} onClose={onClose} title={t('webhooks.create')}>
      <form
        className="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setChecked(true);
          if (urlProblem !== undefined || wanted.length === 0) return;
          create.mutate({
            url: url.trim(),
            events: wanted,
            format,
            ...(groupId === undefined ? {} : { group_id: groupId }),
          });
        }}
      >
        <TextField
          label={t('webhooks.url')}
          type="url"
          hint={t('webhooks.form.url.hint')}
          value={url}
          onValueChange={(text) => setUrl(text)}
          problem={fields['url'] ?? (isChecked ? urlProblem : undefined)}
          autoComplete="off"
        />
        {owners.length > 1 ? (
          <Select
            label={t('webhooks.owner')}
            value={owner}
            choices={owners}
            onChange={(next) => setOwner(next)}
          />
        ) : null}
        <CheckList
          label={t('webhooks.events')}
          choices={offered.map((value) => ({ value, label: t(`webhooks.event.${value}`) }))}
          chosen={wanted}
          onChange={setEvents}
          problem={isChecked && wanted.length === 0 ? t('webhooks.form.events.problem') : undefined}
        />
        <Select
          label={t('webhooks.format')}
          value={format}
          choices={FORMATS.map((value) => ({ value, label: t(`webhooks.format.${value}`) }))}
          onChange={setFormat}
        />
        <ErrorNote error={create.error} />
        <div className="dialog-actions">
          <Button disabled={create.isPending} onClick={onClose}>
            {t('action.cancel')}
          </Button>
          <Button kind="primary" type="submit" disabled={create.isPending}>
            {t('webhooks.form.submit')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** For whom the viewer may create webhooks: admins for the platform, others for the groups that they manage. */
function useOwners() {
  const { t } = useLanguage();
  const api = useApi();
  const { is_admin: isAdmin } = useUser();
  const groups = useQuery(api.query('group.list')).data;
  return useMemo(
    () => [
      ...(isAdmin ? [{ value: PLATFORM, label: t('webhooks.owner.platform') }] : []),
      ...(groups ?? [])
        .filter(({ my_role: role }) => isAdmin || role === 'owner' || role === 'admin')
        .map(({ id, name }) => ({ value: id, label: name })),
    ],
    [groups, isAdmin, t],
  );
}
