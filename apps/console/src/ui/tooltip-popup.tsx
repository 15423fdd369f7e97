import { Tooltip } from '@base-ui/react/tooltip';

interface TooltipPopupProps {
  readonly text: string;
  readonly anchor: Element;
  readonly onEnter: () => void;
  readonly onLeave: () => void;
  readonly onClose: () => void;
}

export function TooltipPopup({ text, anchor, onEnter, onLeave, onClose }: TooltipPopupProps) {
  return (
    <Tooltip.Root
      open
      onOpenChange={(isOpen) => {
        if (!isOpen) onClose();
      }}
    >
      <Tooltip.Portal>
        <Tooltip.Positioner anchor={anchor} sideOffset={6} className="layer">
          <Tooltip.Popup className="tooltip" onMouseEnter={onEnter} onMouseLeave={onLeave}>
            {text}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
