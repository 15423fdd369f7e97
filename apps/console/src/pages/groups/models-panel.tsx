import type { RpcResult } from '@model-gateway/contracts';
import { useState } from 'react';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { Badge } from '../../ui/badge.tsx';

/** Which models the keys of a group may use. */
export function ModelsPanel({ group }: { readonly group: RpcResult<'group.get'> }) {
  const { t } = useLanguage();
  const api = useApi();
  const rules = useQuery(api.query('group.models.list', { group_id: group.id }));
  const allow = useCall('group.models.allow', { changes: ['group.models.list'] });
  const deny = useCall('group.models.deny', { changes: ['group.models.list'] });
  const [text, setText] = useState('');
  const ids = text.split(/[\s,]+/).filter((id) => id !== '');
  const isPending = allow.isPending || deny.isPending;
  const set = (call: typeof allow): void =>
    call.mutate({ group_id: group.id, model_ids: ids }, { onSuccess: () => setText('') });
  return (
    <section className="panel" aria-label={t('groups.models')}>
      <h2>{t('groups.models')}</h2>
      <p className="page-intro">
        {t(group.enforce_model_allowlist ? 'groups.models.enforced' : 'groups.models.open')}
      </p>
      <ErrorNote error={rules.error} onRetry={() => void rules.refetch()} />
      <ul className="rules">
        {(rules.data?.allowed ?? []).map((model) => (
          <li key={model}>
            <Badge state="good">{t('groups.models.allowed')}</Badge> <code>{model}</code>
          </li>
        ))}
        {(rules.data?.denied ?? []).map((model) => (
          <li key={model}>
            <Badge state="bad">{t('groups.models.denied')}</Badge> <code>{model}</code>
          </li>
        ))}
      </ul>
      <div className="form">
        <TextField
          label={t('keys.models')}
          hint={t('groups.models.hint')}
          value={text}
          onValueChange={(value) => setText(value)}
        />
        <ErrorNote error={allow.error ?? deny.error} />
        <div className="dialog-actions">
          <Button disabled={ids.length === 0 || isPending} onClick={() => set(deny)}>
            {t('groups.models.deny')}
          </Button>
          <Button disabled={ids.length === 0 || isPending} onClick={() => set(allow)}>
            {t('groups.models.allow')}
          </Button>
        </div>
      </div>
    </section>
  );
}
