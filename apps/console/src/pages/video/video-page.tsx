import './video.css';
import type { RpcResult } from '@model-gateway/contracts';
import { useMemo, useState } from 'react';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Confirm } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { Gauge } from '../../ui/gauge.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page, Skeleton } from '../../ui/page.tsx';
import { useCreating } from '../../ui/use-creating.ts';
import { When } from '../../ui/when.tsx';
import { CreateVideo } from './create-video.tsx';
import { useVideoProgress } from './use-video-progress.ts';
import { WatchVideo } from './watch-video.tsx';

type Job = RpcResult<'video.list'>['jobs'][number];

const JOBS = 100;
/** The streams of the newest jobs report faster. */
const AGAIN_MS = 5000;
const SECOND_MS = 1000;
const PERCENT = 100;
const STATES = {
  queued: 'neutral',
  running: 'neutral',
  done: 'good',
  failed: 'bad',
  cancelled: 'warning',
} as const;

const isUnfinished = ({ status }: Job): boolean => status === 'queued' || status === 'running';

/** The viewer's video jobs. */
export function VideoPage() {
  const { t } = useLanguage();
  const api = useApi();
  const list = api.query('video.list', { limit: JOBS });
  const jobs = useQuery({
    ...list,
    refetchInterval: ({ state }) => (state.data?.jobs.some(isUnfinished) ? AGAIN_MS : false),
  });
  useVideoProgress(
    list.queryKey,
    (jobs.data?.jobs ?? []).filter(isUnfinished).map(({ job_id: id }) => id),
  );
  const [watched, setWatched] = useState<string>();
  const [isCreating, setCreating] = useCreating();
  const [cancelling, setCancelling] = useState<string>();
  const create = (
    <Button kind="primary" onClick={() => setCreating(true)}>
      {t('video.create')}
    </Button>
  );
  return (
    <Page title={t('video.title')} intro={t('video.intro')} actions={create}>
      <ErrorNote error={jobs.error} onRetry={() => void jobs.refetch()} />
      {jobs.isPending ? <Skeleton /> : null}
      {jobs.data?.jobs.length === 0 ? <Empty text={t('video.empty')} action={create} /> : null}
      {jobs.data === undefined || jobs.data.jobs.length === 0 ? null : (
        <JobTable jobs={jobs.data.jobs} onCancel={setCancelling} onWatch={setWatched} />
      )}
      {watched === undefined ? null : (
        <WatchVideo url={watched} onClose={() => setWatched(undefined)} />
      )}
      {isCreating ? <CreateVideo onClose={() => setCreating(false)} /> : null}
      {cancelling === undefined ? null : (
        <CancelJob jobId={cancelling} onClose={() => setCancelling(undefined)} />
      )}
    </Page>
  );
}

interface JobTableProps {
  readonly jobs: readonly Job[];
  readonly onCancel: (jobId: string) => void;
  readonly onWatch: (url: string) => void;
}

function JobTable({ jobs, onCancel, onWatch }: JobTableProps) {
  const { t, format } = useLanguage();
  const columns = useMemo(
    (): readonly Column<Job>[] => [
      {
        id: 'created',
        header: t('video.column.created'),
        cell: ({ created_at: seconds }) => (
          <When time={new Date(seconds * SECOND_MS).toISOString()} />
        ),
        sortBy: ({ created_at: seconds }) => seconds,
      },
      { id: 'model', header: t('video.column.model'), cell: ({ model }) => <code>{model}</code> },
      {
        id: 'state',
        header: t('video.column.state'),
        cell: ({ status, error }) => (
          <span>
            <Badge state={STATES[status]}>{t(`video.state.${status}`)}</Badge>{' '}
            {error === null ? null : <span className="card-note">{error}</span>}
          </span>
        ),
      },
      {
        id: 'progress',
        header: t('video.column.progress'),
        cell: ({ progress }) => (
          <Gauge
            label={t('video.progress.of')}
            isLabelHidden
            value={progress}
            max={PERCENT}
            text={format.percent(progress / PERCENT)}
          />
        ),
      },
      {
        id: 'result',
        header: t('video.column.result'),
        cell: ({ result }) =>
          result === null ? (
            '–'
          ) : (
            <span className="card-actions">
              <Button onClick={() => onWatch(result.url)}>{t('video.watch')}</Button>
              <a href={result.url} target="_blank" rel="noreferrer">
                {t('video.result')}
              </a>
            </span>
          ),
      },
      {
        id: 'actions',
        header: t('video.column.actions'),
        isHeaderHidden: true,
        cell: (job) =>
          isUnfinished(job) ? (
            <Button onClick={() => onCancel(job.job_id)}>{t('video.cancel')}</Button>
          ) : null,
      },
    ],
    [t, format, onCancel, onWatch],
  );
  return (
    <DataTable
      label={t('video.title')}
      name="video"
      columns={columns}
      rows={jobs}
      rowId={({ id }) => id}
    />
  );
}

interface CancelJobProps {
  readonly jobId: string;
  readonly onClose: () => void;
}

function CancelJob({ jobId, onClose }: CancelJobProps) {
  const { t } = useLanguage();
  const cancel = useCall('video.cancel', { changes: ['video.list'] });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('video.cancel.title')}
      text={t('video.cancel.text')}
      action={t('video.cancel.submit')}
      isPending={cancel.isPending}
      error={cancel.error}
      onConfirm={() => cancel.mutate({ job_id: jobId }, { onSuccess: onClose })}
    />
  );
}
