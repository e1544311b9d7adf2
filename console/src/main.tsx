import { render } from 'preact';
import { App } from './app.tsx';
import { applySettings } from './frame/settings.ts';
import './styles/all.css';

applySettings();
render(<App />, document.getElementById('app') as HTMLElement);
