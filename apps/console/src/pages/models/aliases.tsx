import type { ModelEntry, RpcResult } from '@model-gateway/contracts';
import { useMemo, useState } from 'react';
import { allPages } from '../../api/all-pages.ts';
import { ROUTING_QUERIES } from '../../api/models.ts';
import { problemOf } from '../../api/problem.ts';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Confirm, Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { trimmedText } from '../../ui/form-text.ts';
import { FromFile } from '../../ui/from-file.tsx';
import { Empty } from '../../ui/empty.tsx';
import { SuggestField } from '../../ui/suggest-field.tsx';

type Alias = RpcResult<'aliases.list'>['aliases'][number];

const CHANGES = ['aliases.list', ...ROUTING_QUERIES] as const;

/** Other names for models. */
export function Aliases({ models }: { readonly models: readonly ModelEntry[] }) {
  const { t } = useLanguage();
  const api = useApi();
  const list = useQuery({
    ...api.query('aliases.list'),
    queryFn: async ({ signal }) => {
      const pages = await allPages((after) => api.call('aliases.list', { after }, { signal }));
      return { ...pages[0], aliases: pages.flatMap(({ aliases }) => aliases) };
    },
  });
  const [isAdding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<Alias>();
  const aliases = list.data?.aliases ?? [];
  const add = <Button onClick={() => setAdding(true)}>{t('aliases.add')}</Button>;
  const columns = useMemo(
    (): readonly Column<Alias>[] => [
      { id: 'alias', header: t('aliases.alias'), cell: ({ alias }) => <code>{alias}</code> },
      { id: 'target', header: t('aliases.target'), cell: ({ target }) => <code>{target}</code> },
      {
        id: 'actions',
        header: t('aliases.remove'),
        isHeaderHidden: true,
        cell: (alias) =>
          alias.source === 'file' ? (
            <FromFile />
          ) : (
            <Button
              aria-label={t('aliases.remove.of', { alias: alias.alias })}
              onClick={() => setRemoving(alias)}
            >
              {t('aliases.remove')}
            </Button>
          ),
      },
    ],
    [t],
  );
  return (
    <section className="form" aria-labelledby="aliases">
      <div className="page-head">
        <div>
          <h2 id="aliases">{t('aliases.title')}</h2>
          <p className="page-intro">{t('aliases.intro')}</p>
        </div>
        {aliases.length === 0 ? null : add}
      </div>
      <ErrorNote error={list.error} onRetry={() => void list.refetch()} />
      {list.data !== undefined && aliases.length === 0 ? (
        <Empty text={t('aliases.empty')} action={add} />
      ) : null}
      {aliases.length === 0 ? null : (
        <DataTable
          label={t('aliases.title')}
          name="aliases"
          columns={columns}
          rows={aliases}
          rowId={({ alias }) => alias}
        />
      )}
      {isAdding ? (
        <AddAlias
          models={models}
          takenNames={aliases.map(({ alias }) => alias)}
          onClose={() => setAdding(false)}
        />
      ) : null}
      {removing === undefined ? null : (
        <RemoveAlias alias={removing.alias} onClose={() => setRemoving(undefined)} />
      )}
    </section>
  );
}

interface AddAliasProps {
  readonly models: readonly ModelEntry[];
  /** Adding one of these would replace it. */
  readonly takenNames: readonly string[];
  readonly onClose: () => void;
}

function AddAlias({ models, takenNames, onClose }: AddAliasProps) {
  const { t } = useLanguage();
  const set = useCall('aliases.set', { changes: CHANGES });
  const { fields } = problemOf(set.error);
  const [isTaken, setTaken] = useState(false);
  const suggestions = useMemo(() => models.map(({ id }) => ({ value: id })), [models]);
  return (
    <Dialog isOpen onClose={onClose} title={t('aliases.add')}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const alias = trimmedText(form, 'alias');
          setTaken(takenNames.includes(alias));
          if (takenNames.includes(alias)) return;
          set.mutate({ alias, target: trimmedText(form, 'target') }, { onSuccess: onClose });
        }}
      >
        <TextField
          label={t('aliases.alias')}
          name="alias"
          problem={isTaken ? t('aliases.add.taken') : fields['alias']}
          required
        />
        <SuggestField
          label={t('aliases.target')}
          name="target"
          suggestions={suggestions}
          problem={fields['target']}
          required
        />
        <ErrorNote error={set.error} />
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={set.isPending}>
            {t('aliases.add.submit')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface RemoveAliasProps {
  readonly alias: string;
  readonly onClose: () => void;
}

function RemoveAlias({ alias, onClose }: RemoveAliasProps) {
  const { t } = useLanguage();
  const remove = useCall('aliases.remove', { changes: CHANGES });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('aliases.remove.title', { alias })}
      text={t('aliases.remove.text', { alias })}
      action={t('aliases.remove.submit')}
      isPending={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate({ alias }, { onSuccess: onClose })}
    />
  );
}
