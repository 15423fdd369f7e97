import './design.css';
import { Tabs } from '@base-ui/react/tabs';
import { KeyRound, Pencil, Plus, RotateCcw, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Logo } from '../../ui/logo.tsx';
import { Badge, Chip } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { CheckList } from '../../ui/check-list.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { DataTable, type Column } from '../../ui/data-table.tsx';
import { Confirm, Dialog, SidePanel } from '../../ui/dialog.tsx';
import { Empty } from '../../ui/empty.tsx';
import { AlertNote } from '../../ui/error-note.tsx';
import { TextField } from '../../ui/field.tsx';
import { Gauge } from '../../ui/gauge.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Page } from '../../ui/page.tsx';
import { RowMenu } from '../../ui/row-menu.tsx';
import { Secret } from '../../ui/secret.tsx';
import { Select } from '../../ui/select.tsx';
import { showToast } from '../../ui/toasts.tsx';

const COLORS = [
  'ground-sunken',
  'ground',
  'surface-raised',
  'hover',
  'line',
  'text-soft',
  'text',
  'accent-soft',
  'accent',
  'accent-fill',
  'good',
  'good-soft',
  'warning',
  'warning-soft',
  'bad',
  'bad-soft',
];

interface Row {
  readonly name: string;
  readonly state: 'good' | 'warning' | 'bad';
  readonly requests: number;
}

const ROWS: readonly Row[] = [
  { name: 'production', state: 'good', requests: 12_480 },
  { name: 'evaluation', state: 'warning', requests: 312 },
  { name: 'retired', state: 'bad', requests: 7 },
];

const COLUMNS: readonly Column<Row>[] = [
  { id: 'name', header: 'Name', cell: ({ name }) => name, sortBy: ({ name }) => name },
  {
    id: 'state',
    header: 'State',
    cell: ({ state }) => <Badge state={state}>{state}</Badge>,
  },
  {
    id: 'requests',
    header: 'Requests',
    isNumber: true,
    cell: ({ requests }) => requests,
    sortBy: ({ requests }) => requests,
  },
  {
    id: 'actions',
    header: 'Actions',
    isHeaderHidden: true,
    cell: ({ name }) => (
      <RowMenu
        label={`Actions of ${name}`}
        actions={[
          { label: 'Edit', icon: Pencil, onSelect: () => showToast(`${name} was edited.`) },
          { label: 'Rotate', icon: RotateCcw, onSelect: () => showToast(`${name} was rotated.`) },
          { label: 'Revoke', icon: Trash2, isDanger: true, onSelect: () => undefined },
        ]}
      />
    ),
  },
];

const FRUITS = ['Apple', 'Cherry', 'Plum'] as const;
const MANY = Array.from({ length: 40 }, (_, place) => `model-${place + 1}`);

/** Every component of the console in both themes, for those who build it. It has no texts of its own. */
export function DesignPage() {
  return (
    <div className="design">
      {(['light', 'dark'] as const).map((theme) => (
        <div key={theme} className="design-theme" style={{ colorScheme: theme }}>
          <Page title={`Design, ${theme}`} intro="All components of the console.">
            <Samples />
          </Page>
        </div>
      ))}
    </div>
  );
}

function Sample({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <section className="design-sample">
      <h2>{name}</h2>
      {children}
    </section>
  );
}

function Samples() {
  const [fruit, setFruit] = useState<(typeof FRUITS)[number]>('Apple');
  const [model, setModel] = useState('model-1');
  const [chosen, setChosen] = useState<readonly string[]>(['Apple']);
  const [open, setOpen] = useState<'dialog' | 'panel' | 'confirm'>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <Sample name="Mark and type">
        <Logo size={48} />
        <p className="design-display">Display, 22 px</p>
        <p className="design-title">Title, 16 px</p>
        <p>Body, 14 px</p>
        <p className="card-note design-small">Small and soft, 12 px</p>
      </Sample>
      <Sample name="Colors">
        <ul className="design-colors">
          {COLORS.map((color) => (
            <li key={color}>
              <span style={{ background: `var(--${color})` }} /> {color}
            </li>
          ))}
        </ul>
      </Sample>
      <Sample name="Buttons">
        <div className="design-row">
          <Button kind="primary">
            <Plus aria-hidden size={14} /> Primary
          </Button>
          <Button>Secondary</Button>
          <Button kind="quiet">Quiet</Button>
          <Button kind="danger">Danger</Button>
          <Button disabled>Disabled</Button>
          <IconButton label="Edit">
            <Pencil aria-hidden size={16} />
          </IconButton>
        </div>
      </Sample>
      <Sample name="Fields">
        <div className="form form-narrow">
          <TextField label="Name" placeholder="production" hint="Shown in usage and logs." />
          <TextField label="Password" defaultValue="short" problem="At least 8 characters." />
          <TextField label="Notes" render={<textarea rows={2} />} />
          <Select
            label="Fruit"
            value={fruit}
            choices={FRUITS.map((value) => ({ value, label: value }))}
            onChange={setFruit}
          />
          <Select
            label="Model"
            hint="A list of more than twenty can be searched."
            value={model}
            choices={MANY.map((value) => ({ value, label: value }))}
            onChange={setModel}
          />
          <CheckList
            label="Fruits"
            choices={FRUITS.map((value) => ({ value, label: value }))}
            chosen={chosen}
            onChange={setChosen}
          />
        </div>
      </Sample>
      <Sample name="Badges and chips">
        <div className="design-row">
          <Badge state="good">Healthy</Badge>
          <Badge state="warning">Degraded</Badge>
          <Badge state="bad">Down</Badge>
          <Badge state="neutral">Revoked</Badge>
          <Chip>5 per minute</Chip>
          <Chip>mock-*</Chip>
        </div>
      </Sample>
      <Sample name="Table and menu">
        <DataTable label="Keys" columns={COLUMNS} rows={ROWS} rowId={({ name }) => name} />
      </Sample>
      <Sample name="Card, meter, gauge">
        <div className="panel">
          <div className="panel-head">
            <h3>Free plan</h3>
            <Badge state="good">Active</Badge>
          </div>
          <Meter label="Tokens" used={820} limit={1000} format={String} />
          <Gauge label="Memory" value={3} max={8} text="3 of 8 GB" />
        </div>
      </Sample>
      <Sample name="Notes">
        <AlertNote
          title="mock failed"
          message="It answered 500: The engine is out of memory."
          remedy="Try again, or choose another model."
        />
        <Empty
          icon={KeyRound}
          text="You have no key yet. Programs send one with each request."
          action={<Button kind="primary">Create a key</Button>}
        />
      </Sample>
      <Sample name="Tabs and code">
        <Tabs.Root defaultValue="curl">
          <Tabs.List className="tabs">
            <Tabs.Tab className="tab" value="curl">
              curl
            </Tabs.Tab>
            <Tabs.Tab className="tab" value="Python">
              Python
            </Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="curl">
            <CodeBlock label="curl" code="curl http://127.0.0.1:8080/v1/models" />
          </Tabs.Panel>
          <Tabs.Panel value="Python">
            <CodeBlock label="Python" code="client.models.list()" />
          </Tabs.Panel>
        </Tabs.Root>
        <Secret text="service-00000000-0000-0000-0000-000000000000" />
      </Sample>
      <Sample name="Dialog, panel, toast">
        <div className="design-row">
          <Button onClick={() => setOpen('dialog')}>Dialog</Button>
          <Button onClick={() => setOpen('panel')}>Side panel</Button>
          <Button onClick={() => setOpen('confirm')}>Confirm</Button>
          <Button onClick={() => showToast('The key was revoked.')}>Toast</Button>
        </div>
        <Dialog isOpen={open === 'dialog'} onClose={close} title="Edit the key">
          <TextField label="Name" />
          <div className="dialog-actions">
            <Button onClick={close}>Cancel</Button>
            <Button kind="primary">Save</Button>
          </div>
        </Dialog>
        <SidePanel isOpen={open === 'panel'} onClose={close} title="Request">
          <p>One thing of a list, while the list stays in sight.</p>
        </SidePanel>
        <Confirm
          isOpen={open === 'confirm'}
          onClose={close}
          title="Revoke production?"
          text="Programs with this key are refused at once."
          action="Revoke the key"
          onConfirm={close}
        />
      </Sample>
    </>
  );
}
