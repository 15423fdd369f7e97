import { lazy, Suspense } from 'react';
import { useUser } from '../api/use-api.ts';

// A page is used before the menu is.
const AccountMenu = lazy(async () => ({
  default: (await import('./account-menu.tsx')).AccountMenu,
}));

/** Who is signed in, and the menu of the account. */
export function Account() {
  const { name, email } = useUser();
  const shownName = name === '' ? email : name;
  const person = (
    <>
      <span className="avatar" aria-hidden>
        {shownName.slice(0, 1)}
      </span>
      <span className="account-name">{shownName}</span>
    </>
  );
  return (
    <div className="side-foot">
      <Suspense fallback={<div className="account-button">{person}</div>}>
        <AccountMenu>{person}</AccountMenu>
      </Suspense>
    </div>
  );
}
