import './account.css';
import { Link } from '@tanstack/react-router';
import { useApi, useUser } from '../../api/use-api.ts';
import { useQuery } from '../../api/use-query.ts';
import { useLanguage } from '../../preferences/language.tsx';
import { Page } from '../../ui/page.tsx';
import { ChangePassword } from './change-password.tsx';

/** The account of the viewer: who they are, their password, and where their data is. */
export function AccountPage() {
  const { t } = useLanguage();
  return (
    <Page title={t('frame.account')} intro={t('account.intro')}>
      <Identity />
      <section className="panel" aria-labelledby="account-password">
        <h2 id="account-password">{t('account.password')}</h2>
        <ChangePassword />
      </section>
      <section className="panel" aria-labelledby="account-data">
        <h2 id="account-data">{t('account.data')}</h2>
        <p>{t('account.data.text')}</p>
        <ul className="plain-list account-links">
          <li>
            <Link to="/usage">{t('account.data.usage')}</Link>
          </li>
          <li>
            <Link to="/requests">{t('requests.title')}</Link>
          </li>
          <li>
            <Link to="/playground">{t('playground.conversations')}</Link>
          </li>
          <li>
            <Link to="/keys">{t('keys.title')}</Link>
          </li>
        </ul>
        <p className="page-intro">{t('account.data.erase')}</p>
      </section>
    </Page>
  );
}

function Identity() {
  const { t } = useLanguage();
  const api = useApi();
  const { id, email, name, is_admin: isAdmin } = useUser();
  const tier = useQuery(api.query('billing.plan')).data?.current_tier;
  return (
    <section className="panel" aria-labelledby="account-you">
      <h2 id="account-you">{t('account.you')}</h2>
      <dl className="fact-grid account-facts">
        <div>
          <dt>{t('sign_in.email')}</dt>
          <dd>{email}</dd>
        </div>
        <div>
          <dt>{t('sign_in.register.name')}</dt>
          <dd>{name === '' ? '–' : name}</dd>
        </div>
        <div>
          <dt>{t('people.column.role')}</dt>
          <dd>{t(isAdmin ? 'people.role.admin' : 'people.role.user')}</dd>
        </div>
        <div>
          <dt>{t('plan.tier')}</dt>
          <dd>
            <Link to="/plan">{tier ?? '–'}</Link>
          </dd>
        </div>
        <div>
          <dt>{t('account.id')}</dt>
          <dd>
            <code>{id}</code>
          </dd>
        </div>
      </dl>
    </section>
  );
}
