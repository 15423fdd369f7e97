import type { RpcResult } from '@model-gateway/contracts';
import { Link, getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { modelsQuery } from '../../api/models.ts';
import { problemOf } from '../../api/problem.ts';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { trimmedText } from '../../ui/form-text.ts';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { SuggestField } from '../../ui/suggest-field.tsx';

const route = getRouteApi('/shell/routes/explain');

type Explanation = RpcResult<'routes.explain'>;
type Target = Explanation['targets'][number];

const AGAIN_MS = 10_000;

/** Where a request for a model would go now, and why not elsewhere. */
export function ExplainPage() {
  const { t } = useLanguage();
  const api = useApi();
  const { model, key } = route.useSearch();
  const explanation = useQuery({
    ...api.query('routes.explain', {
      model: model ?? '',
      ...(key === undefined ? {} : { key_id: key }),
    }),
    enabled: model !== undefined,
    refetchInterval: AGAIN_MS,
  });
  return (
    <Page
      title={t('explain.title')}
      intro={t('explain.intro')}
      isBusy={explanation.isFetching && explanation.isPlaceholderData}
      actions={
        <Link to="/routes" className="button">
          {t('routes.title')}
        </Link>
      }
    >
      <QuestionForm key={`${model} ${key}`} problems={problemOf(explanation.error).fields} />
      <ErrorNote error={explanation.error} onRetry={() => void explanation.refetch()} />
      {model !== undefined && explanation.isPending ? <Skeleton lines={6} /> : null}
      {model === undefined || explanation.data === undefined || explanation.isError ? null : (
        <Answer explanation={explanation.data} />
      )}
    </Page>
  );
}

/** What is asked about; the answer is at the address, so that a link shows the same. */
function QuestionForm({ problems }: { readonly problems: Readonly<Record<string, string>> }) {
  const { t } = useLanguage();
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const models = useQuery(modelsQuery(api)).data;
  const routes = useQuery(api.query('routes.list')).data;
  const keys = useQuery(api.query('keys.list')).data;
  const names = useMemo(() => {
    const all = [
      ...(models ?? []).map(({ id }) => id),
      ...(routes ?? []).map(({ model }) => model),
    ];
    return [...new Set(all)].map((value) => ({ value }));
  }, [models, routes]);
  const keyNames = useMemo(
    () =>
      (keys ?? []).map(({ id, name, key_hint: hint }) => ({
        value: id,
        label: `${name} (${hint})`,
      })),
    [keys],
  );
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        const form = new FormData(event.currentTarget);
        const [model, key] = [trimmedText(form, 'model'), trimmedText(form, 'key')];
        void navigate({ search: { model, ...(key === '' ? {} : { key }) } });
      }}
    >
      <div className="form-pair">
        <SuggestField
          label={t('routes.model')}
          name="model"
          suggestions={names}
          defaultValue={search.model ?? ''}
          problem={problems['model']}
          required
        />
        <SuggestField
          label={t('explain.key')}
          hint={t('explain.key.hint')}
          name="key"
          suggestions={keyNames}
          defaultValue={search.key ?? ''}
          problem={problems['key_id']}
        />
      </div>
      <div>
        <Button kind="primary" type="submit">
          {t('explain.submit')}
        </Button>
      </div>
    </form>
  );
}

function Answer({ explanation }: { readonly explanation: Explanation }) {
  const { t } = useLanguage();
  const { model, resolved, has_route: hasRoute, attempts, targets } = explanation;
  const isServed = targets.some(({ position }) => position !== null);
  return (
    <>
      <div role="status">
        {resolved === model ? null : <p>{t('explain.alias', { model, resolved })}</p>}
        <p>{t(hasRoute ? 'explain.route' : 'explain.no_route', { model })}</p>
        {isServed ? (
          <p>{t('explain.attempts', { count: attempts })}</p>
        ) : (
          <p>
            <Badge state="bad">{t('explain.none', { model })}</Badge>
          </p>
        )}
      </div>
      {targets.length === 0 ? (
        <Empty
          text={t('explain.empty')}
          action={
            <Link to="/backends" className="button button-primary">
              {t('backends.title')}
            </Link>
          }
        />
      ) : (
        <TargetTable targets={targets} hasRoute={hasRoute} />
      )}
    </>
  );
}

interface TargetTableProps {
  readonly targets: readonly Target[];
  readonly hasRoute: boolean;
}

function TargetTable({ targets, hasRoute }: TargetTableProps) {
  const { t, format } = useLanguage();
  const columns = useMemo((): readonly Column<Target>[] => {
    const number = (value: number | null): string => (value === null ? '–' : format.number(value));
    const ofRoute: readonly Column<Target>[] = [
      {
        id: 'share',
        header: t('explain.column.share'),
        isNumber: true,
        cell: ({ share }) => (share === null ? '–' : format.percent(share)),
      },
      {
        id: 'priority',
        header: t('routes.target.priority'),
        isNumber: true,
        cell: ({ priority }) => number(priority),
      },
      {
        id: 'weight',
        header: t('routes.target.weight'),
        isNumber: true,
        cell: ({ weight }) => number(weight),
      },
    ];
    return [
      {
        id: 'position',
        header: t('explain.column.position'),
        isNumber: true,
        cell: ({ position }) => number(position),
      },
      {
        id: 'target',
        header: t('explain.column.target'),
        cell: ({ model, backend }) => (
          <code>{[model, backend].filter((part) => part !== null).join('@')}</code>
        ),
      },
      {
        id: 'state',
        header: t('explain.column.state'),
        cell: ({ reason, detail }) => (
          <div>
            <Badge state={reason === null ? 'good' : 'neutral'}>
              {t(`explain.reason.${reason ?? 'none'}`)}
            </Badge>
            {detail === null ? null : <div className="card-note">{detail}</div>}
          </div>
        ),
      },
      ...(hasRoute ? ofRoute : []),
    ];
  }, [t, format, hasRoute]);
  return (
    <DataTable
      label={t('explain.table')}
      columns={columns}
      rows={targets}
      rowId={({ backend, model, priority, weight }) => `${backend} ${model} ${priority} ${weight}`}
    />
  );
}
