// A page of React and MUI: fields, lists that open elsewhere in the page, dialogs with a backdrop, animations.
import {
  Autocomplete,
  Button,
  Checkbox,
  Dialog,
  DialogActions,
  DialogTitle,
  FormControlLabel,
  Menu,
  MenuItem,
  Slider,
  Switch,
  Tab,
  Tabs,
  TextField,
} from '@mui/material';
import { createElement as h, useState } from 'react';
import { createRoot } from 'react-dom/client';

const FRUITS = ['Apple', 'Banana', 'Cherry'];

function Page() {
  const [name, setName] = useState('');
  const [size, setSize] = useState('');
  const [fruit, setFruit] = useState('');
  const [agreed, setAgreed] = useState(false);
  const [dark, setDark] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const [anchor, setAnchor] = useState();
  const [tab, setTab] = useState(0);
  const [volume, setVolume] = useState(30);
  const [log, setLog] = useState('');
  const close = (answer) => () => {
    setAsking(false);
    setLog(answer);
  };
  return h(
    'main',
    {},
    h(TextField, { label: 'Name', value: name, onChange: (event) => setName(event.target.value) }),
    h(
      TextField,
      {
        select: true,
        label: 'Size',
        value: size,
        sx: { width: 200 },
        onChange: (event) => setSize(event.target.value),
      },
      ['Small', 'Large'].map((each) => h(MenuItem, { key: each, value: each }, each)),
    ),
    h(Autocomplete, {
      options: FRUITS,
      onChange: (_event, value) => setFruit(value ?? ''),
      renderInput: (props) => h(TextField, { ...props, label: 'Fruit' }),
    }),
    h(FormControlLabel, {
      label: 'I agree',
      control: h(Checkbox, {
        checked: agreed,
        onChange: (event) => setAgreed(event.target.checked),
      }),
    }),
    h(FormControlLabel, {
      label: 'Dark mode',
      control: h(Switch, { checked: dark, onChange: (event) => setDark(event.target.checked) }),
    }),
    h(Slider, {
      'aria-label': 'Volume',
      value: volume,
      onChange: (_event, value) => setVolume(value),
    }),
    h(
      Tabs,
      { value: tab, onChange: (_event, value) => setTab(value) },
      h(Tab, { label: 'First' }),
      h(Tab, { label: 'Second' }),
    ),
    h(Button, { variant: 'contained', disabled: !agreed, onClick: () => setAsking(true) }, 'Send'),
    h(Button, { onClick: (event) => setAnchor(event.currentTarget) }, 'More'),
    h(
      Menu,
      { open: anchor !== undefined, anchorEl: anchor, onClose: () => setAnchor(undefined) },
      h(
        MenuItem,
        {
          onClick: () => {
            setAnchor(undefined);
            setLog('archived');
          },
        },
        'Archive',
      ),
    ),
    h(
      Dialog,
      { open: isAsking, onClose: close('closed') },
      h(DialogTitle, {}, 'Really send?'),
      h(
        DialogActions,
        {},
        h(Button, { onClick: close('cancelled') }, 'Cancel'),
        h(Button, { onClick: close('sent') }, 'Yes, send'),
      ),
    ),
    h(
      'output',
      { id: 'state' },
      JSON.stringify({ name, size, fruit, agreed, dark, tab, volume, log }),
    ),
  );
}

createRoot(document.getElementById('root')).render(h(Page));
