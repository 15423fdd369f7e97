import type { RpcResult } from '@model-gateway/contracts';
import { problemOf } from '../../api/problem.ts';
import { useCall } from '../../api/use-api.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { trimmedText } from '../../ui/form-text.ts';

interface EditGroupProps {
  readonly group: RpcResult<'group.get'>;
  readonly onClose: () => void;
}

/** Changes the name, description and limits of a group. */
export function EditGroup({ group, onClose }: EditGroupProps) {
  const { t } = useLanguage();
  const update = useCall('group.update', { changes: ['group.get', 'group.list'] });
  const { fields } = problemOf(update.error);
  return (
    <Dialog isOpen onClose={onClose} title={t('groups.edit')}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          const form = new FormData(event.currentTarget);
          const ceiling = trimmedText(form, 'rpm_ceiling');
          update.mutate(
            {
              group_id: group.id,
              name: trimmedText(form, 'name'),
              description: trimmedText(form, 'description'),
              rpm_ceiling: ceiling === '' ? null : Number(ceiling),
              enforce_model_allowlist: form.has('enforce'),
            },
            { onSuccess: onClose },
          );
        }}
      >
        <TextField
          label={t('groups.name')}
          name="name"
          defaultValue={group.name}
          problem={fields['name']}
          required
        />
        <TextField
          label={t('groups.description')}
          name="description"
          defaultValue={group.description}
          problem={fields['description']}
        />
        <TextField
          label={t('groups.rpm')}
          name="rpm_ceiling"
          type="number"
          min={0}
          hint={t('groups.rpm.hint')}
          defaultValue={group.rpm_ceiling ?? ''}
          problem={fields['rpm_ceiling']}
        />
        <label className="check">
          <input type="checkbox" name="enforce" defaultChecked={group.enforce_model_allowlist} />
          {t('groups.enforce')}
        </label>
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
