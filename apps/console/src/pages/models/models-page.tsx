import type { ModelEntry } from '@model-gateway/contracts';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { canChat, canEmbed, modelsQuery } from '../../api/models.ts';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { Aliases } from './aliases.tsx';

const MILLION = 1_000_000;

/** The available models, and the aliases. */
export function ModelsPage() {
  const { t } = useLanguage();
  const api = useApi();
  const models = useQuery(modelsQuery(api));
  return (
    <Page title={t('models.title')} intro={t('models.intro')} isBusy={models.isFetching}>
      <ErrorNote error={models.error} onRetry={() => void models.refetch()} />
      {models.isPending ? <Skeleton /> : null}
      {models.data?.length === 0 ? (
        <Empty
          text={t('models.empty')}
          action={
            <Link to="/backends" className="button button-primary">
              {t('backends.title')}
            </Link>
          }
        />
      ) : null}
      {models.data === undefined || models.data.length === 0 ? null : (
        <ModelTable models={models.data} />
      )}
      <Aliases models={models.data ?? []} />
    </Page>
  );
}

function ModelTable({ models }: { readonly models: readonly ModelEntry[] }) {
  const { t, format } = useLanguage();
  const columns = useMemo((): readonly Column<ModelEntry>[] => {
    const price = (perToken: string | undefined): string =>
      perToken === undefined ? '–' : format.money(Number(perToken) * MILLION);
    return [
      {
        id: 'id',
        header: t('models.column.id'),
        cell: ({ id }) => <code>{id}</code>,
        sortBy: ({ id }) => id.toLowerCase(),
      },
      {
        id: 'owner',
        header: t('models.column.owner'),
        cell: ({ owned_by: owner, alias_of: model }) =>
          model !== undefined
            ? t('models.alias_of', { model })
            : owner === 'huggingface'
              ? t('models.not_served')
              : owner,
        sortBy: ({ owned_by: owner }) => owner,
      },
      {
        id: 'capabilities',
        header: t('models.column.capabilities'),
        cell: ({ capabilities }) => capabilities.join(', '),
      },
      {
        id: 'context',
        header: t('models.column.context'),
        isNumber: true,
        cell: ({ context_length: length }) => (length === undefined ? '–' : format.number(length)),
        sortBy: ({ context_length: length = 0 }) => length,
      },
      {
        id: 'input',
        header: t('models.column.input'),
        isNumber: true,
        cell: (model) =>
          model.pricing === undefined && (canChat(model) || canEmbed(model)) ? (
            <Link to="/prices" search={{ model: model.id }}>
              {t('prices.set')}
            </Link>
          ) : (
            price(model.pricing?.prompt)
          ),
        sortBy: ({ pricing }) => Number(pricing?.prompt ?? 0),
      },
      {
        id: 'output',
        header: t('models.column.output'),
        isNumber: true,
        cell: ({ pricing }) => price(pricing?.completion),
        sortBy: ({ pricing }) => Number(pricing?.completion ?? 0),
      },
      {
        id: 'actions',
        header: t('routes.column.actions'),
        isHeaderHidden: true,
        cell: ({ id }) => (
          <Link
            to="/routes/explain"
            search={{ model: id }}
            className="button"
            aria-label={t('routes.explain.of', { model: id })}
          >
            {t('routes.explain')}
          </Link>
        ),
      },
    ];
  }, [t, format]);
  return (
    <DataTable
      label={t('models.title')}
      name="models"
      columns={columns}
      rows={models}
      rowId={({ id }) => id}
    />
  );
}
