import { useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

/** In the address of a page, it opens the dialog that creates something there. */
export const CREATE_HASH = 'new';

/** Whether that dialog is open: by a button of the page, or by its address. */
export function useCreating(): readonly [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(false);
  const isInAddress = useLocation({ select: ({ hash }) => hash === CREATE_HASH });
  const navigate = useNavigate();
  const change = (next: boolean): void => {
    setOpen(next);
    if (!next && isInAddress)
      void navigate({ to: '.', search: true, hash: '', replace: true } as never);
  };
  return [isOpen || isInAddress, change];
}
