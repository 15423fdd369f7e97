import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { canEmbed, modelsQuery } from '../../api/models.ts';
import { useApi } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { formText, trimmedText } from '../../ui/form-text.ts';
import { Page, Skeleton } from '../../ui/page.tsx';
import { cosine } from './cosine.ts';
import { ModelPicker } from './model-picker.tsx';
import { PlaygroundTabs } from './playground-tabs.tsx';
import { NoModel } from './no-model.tsx';

const route = getRouteApi('/shell/playground/embeddings');

interface EmbeddingsAnswer {
  readonly data: readonly { readonly embedding: readonly number[] }[];
  readonly usage?: { readonly prompt_tokens?: number };
}

interface Question {
  readonly lines: readonly string[];
  /** An API key: the session is for the management plane only. */
  readonly bearer: string;
}

interface Embedded {
  readonly lines: readonly string[];
  readonly vectors: readonly (readonly number[])[];
  readonly tokens: number | undefined;
  readonly ms: number;
}

const LINES_SHOWN = 8;

/** Texts as vectors, and how alike they are. */
export function EmbeddingsPage() {
  const { t } = useLanguage();
  const api = useApi();
  const models = useQuery(modelsQuery(api));
  const { model: wanted } = route.useSearch();
  const navigate = route.useNavigate();
  const able = (models.data ?? []).filter(canEmbed);
  const model = able.find(({ id }) => id === wanted)?.id ?? able[0]?.id;
  const embed = useMutation({
    mutationFn: async ({ lines, bearer }: Question): Promise<Embedded> => {
      const startedAt = performance.now();
      const { data, usage } = await api.rest<EmbeddingsAnswer>('/v1/embeddings', {
        method: 'POST',
        body: { model, input: lines },
        bearer,
      });
      return {
        lines,
        vectors: data.map(({ embedding }) => embedding),
        tokens: usage?.prompt_tokens,
        ms: performance.now() - startedAt,
      };
    },
  });
  return (
    <Page
      title={t('embeddings.title')}
      intro={t('embeddings.intro')}
      isBusy={embed.isPending}
      actions={<PlaygroundTabs />}
    >
      <ErrorNote error={models.error} onRetry={() => void models.refetch()} />
      {models.isPending ? <Skeleton /> : null}
      {models.data !== undefined && model === undefined ? (
        <NoModel text={t('embeddings.none')} />
      ) : null}
      {model === undefined ? null : (
        <form
          className="form form-narrow"
          onSubmit={(event) => {
            event.preventDefault();
            const form = new FormData(event.currentTarget);
            const lines = formText(form, 'texts')
              .split('\n')
              .map((line) => line.trim())
              .filter((line) => line !== '');
            const bearer = trimmedText(form, 'key');
            if (lines.length > 0) embed.mutate({ lines: lines.slice(0, LINES_SHOWN), bearer });
          }}
        >
          <ModelPicker
            isLabelHidden={false}
            models={able}
            value={model}
            onChange={(next) => void navigate({ search: { model: next }, replace: true })}
          />
          <TextField
            label={t('embeddings.key')}
            hint={t('embeddings.key.hint')}
            name="key"
            type="password"
            autoComplete="off"
            required
          />
          <TextField
            label={t('embeddings.texts')}
            hint={t('embeddings.texts.hint', { count: LINES_SHOWN })}
            name="texts"
            render={<textarea rows={4} />}
            required
          />
          <div>
            <Button kind="primary" type="submit" disabled={embed.isPending}>
              {t('embeddings.submit')}
            </Button>
          </div>
        </form>
      )}
      <ErrorNote error={embed.error} />
      {embed.data === undefined ? null : <Result embedded={embed.data} />}
    </Page>
  );
}

interface Line {
  readonly text: string;
  readonly number: number;
  readonly vector: readonly number[];
}

function Result({ embedded }: { readonly embedded: Embedded }) {
  const { t, format } = useLanguage();
  const { lines, vectors, tokens, ms } = embedded;
  const rows = useMemo(
    () =>
      lines.map((text, place): Line => ({ text, number: place + 1, vector: vectors[place] ?? [] })),
    [lines, vectors],
  );
  const columns = useMemo(
    (): readonly Column<Line>[] => [
      {
        id: 'text',
        header: t('embeddings.column.text'),
        cell: ({ number, text }) => `${number}. ${text}`,
      },
      ...rows.map(({ number, vector }): Column<Line> => ({
        id: String(number),
        header: t('embeddings.column.like', { number }),
        isNumber: true,
        cell: (row) => format.percent(cosine(row.vector, vector)),
      })),
    ],
    [rows, t, format],
  );
  return (
    <>
      <dl className="facts">
        <div className="fact">
          <dt>{t('embeddings.dimensions')}</dt>
          <dd>{format.number(vectors[0]?.length ?? 0)}</dd>
        </div>
        <div className="fact">
          <dt>{t('usage.column.prompt')}</dt>
          <dd>{tokens === undefined ? '–' : format.number(tokens)}</dd>
        </div>
        <div className="fact">
          <dt>{t('usage.column.latency')}</dt>
          <dd>{format.duration(ms)}</dd>
        </div>
      </dl>
      <DataTable
        label={t('embeddings.table')}
        columns={columns}
        rows={rows}
        rowId={({ number }) => String(number)}
      />
    </>
  );
}
