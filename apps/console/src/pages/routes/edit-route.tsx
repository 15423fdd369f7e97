import type { RpcResult } from '@model-gateway/contracts';
import { useMemo, useState } from 'react';
import { ROUTING_QUERIES } from '../../api/models.ts';
import { useApi, useCall } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { CheckList } from '../../ui/check-list.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { revealInDialog } from '../../ui/reveal-in-dialog.ts';
import { Select } from '../../ui/select.tsx';
import { SuggestField } from '../../ui/suggest-field.tsx';
import { draftOf, emptyTarget, RETRY_REASONS, routeOf, type TargetDraft } from './route-draft.ts';

interface EditRouteProps {
  /** Undefined for a new one. */
  readonly route: RpcResult<'routes.list'>[number] | undefined;
  /** The models that have a route: adding another one would replace it. */
  readonly takenModels: readonly string[];
  readonly onClose: () => void;
}

const ATTEMPTS_MAX = 5;
const HEDGE_AFTER_MS_MAX = 600_000;
const CACHE_SECS_MAX = 86_400;
const STRATEGIES = ['weighted', 'fastest'] as const;

/** The form of a route. */
export function EditRoute({ route, takenModels, onClose }: EditRouteProps) {
  const { t } = useLanguage();
  const api = useApi();
  const backends = useQuery(api.query('backends.list')).data;
  const names = useMemo(() => (backends ?? []).map(({ name }) => name), [backends]);
  const models = useMemo(
    () =>
      [...new Set((backends ?? []).flatMap((backend) => backend.models))].map((value) => ({
        value,
      })),
    [backends],
  );
  const set = useCall('routes.set', { changes: ['routes.list', ...ROUTING_QUERIES] });
  const [draft, setDraft] = useState(() => draftOf(route));
  const [isRefused, setRefused] = useState(false);
  const change = (id: number, part: Partial<TargetDraft>): void =>
    setDraft({
      ...draft,
      targets: draft.targets.map((target) => (target.id === id ? { ...target, ...part } : target)),
    });
  const isTaken = route === undefined && takenModels.includes(draft.model.trim());
  const nextId = Math.max(0, ...draft.targets.map(({ id }) => id)) + 1;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={
        route === undefined ? t('routes.add.title') : t('routes.edit.title', { model: route.model })
      }
    >
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          setRefused(isTaken);
          if (!isTaken) set.mutate(routeOf(draft), { onSuccess: onClose });
        }}
      >
        {route === undefined ? (
          <TextField
            label={t('routes.model')}
            value={draft.model}
            onValueChange={(model) => setDraft({ ...draft, model })}
            problem={
              isTaken && !set.isPending && !set.isSuccess ? t('routes.add.taken') : undefined
            }
            required
          />
        ) : null}
        {draft.targets.map((target, index) => (
          <TargetFields
            key={target.id}
            target={target}
            number={index + 1}
            backends={names}
            models={models}
            onChange={(part) => change(target.id, part)}
            onRemove={
              draft.targets.length === 1
                ? undefined
                : () =>
                    setDraft({
                      ...draft,
                      targets: draft.targets.filter(({ id }) => id !== target.id),
                    })
            }
          />
        ))}
        <div>
          <Button
            onClick={() =>
              setDraft({
                ...draft,
                targets: [...draft.targets, emptyTarget(nextId, draft.targets.length)],
              })
            }
          >
            {t('routes.target.add')}
          </Button>
        </div>
        <TextField
          label={t('routes.attempts')}
          type="number"
          min={1}
          max={ATTEMPTS_MAX}
          value={draft.attempts}
          onValueChange={(attempts) => setDraft({ ...draft, attempts })}
          required
        />
        <CheckList
          label={t('routes.retry_on')}
          hint={t('routes.retry_on.hint')}
          choices={RETRY_REASONS.map((value) => ({
            value,
            label: t(`routes.retry_on.${value}`),
          }))}
          chosen={draft.retryOn}
          onChange={(retryOn) => setDraft({ ...draft, retryOn })}
        />
        <TextField
          label={t('routes.timeout')}
          hint={t('routes.timeout.none')}
          type="number"
          min={0}
          step="any"
          value={draft.timeout}
          onValueChange={(timeout) => setDraft({ ...draft, timeout })}
        />
        <Select
          label={t('routes.strategy')}
          value={draft.strategy}
          choices={STRATEGIES.map((value) => ({ value, label: t(`routes.strategy.${value}`) }))}
          onChange={(strategy) => setDraft({ ...draft, strategy })}
        />
        <TextField
          label={t('routes.hedge')}
          hint={t('routes.hedge.hint')}
          type="number"
          min={1}
          max={HEDGE_AFTER_MS_MAX}
          value={draft.hedgeAfterMs}
          onValueChange={(hedgeAfterMs) => setDraft({ ...draft, hedgeAfterMs })}
        />
        <TextField
          label={t('routes.cache')}
          hint={t('routes.cache.hint')}
          type="number"
          min={1}
          max={CACHE_SECS_MAX}
          value={draft.cacheSecs}
          onValueChange={(cacheSecs) => setDraft({ ...draft, cacheSecs })}
        />
        <ErrorNote error={set.error} />
        {/* Also here: the field is out of view where the buttons are. */}
        {isRefused && isTaken ? (
          <p className="field-problem" role="alert" ref={revealInDialog}>
            {t('routes.add.taken')}
          </p>
        ) : null}
        <div className="dialog-actions">
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="primary" type="submit" disabled={set.isPending}>
            {t('action.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface TargetFieldsProps {
  readonly target: TargetDraft;
  readonly number: number;
  readonly backends: readonly string[];
  readonly models: readonly { readonly value: string }[];
  readonly onChange: (part: Partial<TargetDraft>) => void;
  readonly onRemove: (() => void) | undefined;
}

function TargetFields(props: TargetFieldsProps) {
  const { target, number, backends, models, onChange, onRemove } = props;
  const { t } = useLanguage();
  const names = [...new Set(['', ...backends, target.backend])];
  return (
    <fieldset className="group">
      <legend>{t('routes.target', { number })}</legend>
      <SuggestField
        label={t('routes.target.model')}
        suggestions={models}
        value={target.model}
        onValueChange={(model) => onChange({ model })}
        required
      />
      <Select
        label={t('routes.target.backend')}
        value={target.backend}
        choices={names.map((name) => ({
          value: name,
          label: name === '' ? t('routes.target.any') : name,
        }))}
        onChange={(backend) => onChange({ backend })}
      />
      <TextField
        label={t('routes.target.priority')}
        type="number"
        min={0}
        value={target.priority}
        onValueChange={(priority) => onChange({ priority })}
        required
      />
      <TextField
        label={t('routes.target.weight')}
        type="number"
        min={0}
        step="any"
        value={target.weight}
        onValueChange={(weight) => onChange({ weight })}
        required
      />
      {onRemove === undefined ? null : (
        <Button onClick={onRemove}>{t('routes.target.remove', { number })}</Button>
      )}
    </fieldset>
  );
}
