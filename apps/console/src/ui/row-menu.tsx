import { Menu } from '@base-ui/react/menu';
import { Ellipsis, type LucideIcon } from 'lucide-react';
import { IconButton } from './button.tsx';

interface MenuAction {
  readonly label: string;
  readonly onSelect: () => void;
  readonly icon?: LucideIcon;
  /** For what cannot be undone. */
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
}

interface RowMenuProps {
  /** Names the row, for screen readers. */
  readonly label: string;
  readonly actions: readonly MenuAction[];
}

/** What can be done with one thing of a list, behind a button with three dots. */
export function RowMenu({ label, actions }: RowMenuProps) {
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        render={
          <IconButton label={label} className="row-menu">
            <Ellipsis aria-hidden size={16} />
          </IconButton>
        }
      />
      <Menu.Portal>
        <Menu.Positioner className="layer" sideOffset={4} align="end">
          <Menu.Popup className="popup">
            {actions.map((action) => (
              <Menu.Item
                key={action.label}
                className={action.isDanger === true ? 'item item-danger' : 'item'}
                disabled={action.isDisabled === true}
                onClick={action.onSelect}
              >
                {action.icon === undefined ? null : <action.icon aria-hidden size={14} />}
                <span className="item-body">{action.label}</span>
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
