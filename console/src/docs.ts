// The docs page: Scalar shows the OpenAPI description of this server. Signed-in users send requests with their token.

import scalarScript from 'scalar-script';
import { savedToken } from './session/session.ts';
import './docs.css';

interface Scalar {
  createApiReference(selector: string, configuration: object): unknown;
}

/** Replaces the colours of Scalar whose contrast is too low. */
const STYLE = `
  .light-mode { --scalar-color-2: #474747; --scalar-color-3: #5c5c5c;
    --scalar-color-green: #00663f; --scalar-color-red: #b3261e; --scalar-color-yellow: #7a5200;
    --scalar-color-blue: #0b57d0; --scalar-color-orange: #9a4a00; --scalar-color-purple: #5b3fbf; }
  .dark-mode { --scalar-color-2: #c4c4c4; --scalar-color-3: #b0b0b0; --scalar-color-red: #ff8585; }
`;

const script = document.createElement('script');
script.src = scalarScript;
script.onload = show;
document.head.append(script);

function show(): void {
  const { Scalar } = window as unknown as { Scalar: Scalar };
  const token = savedToken();
  Scalar.createApiReference('#docs', {
    url: new URL('openapi.json', location.href).href,
    servers: [{ url: new URL('.', location.href).href.replace(/\/$/, '') }],
    authentication: {
      preferredSecurityScheme: 'bearerAuth',
      ...(token !== undefined && { securitySchemes: { bearerAuth: { token } } }),
    },
    // The page must not contact another host.
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideClientButton: true,
    persistAuth: false,
    customCss: STYLE,
    metaData: { title: 'API reference · Plant Store' },
  });
  new MutationObserver(nameButtons).observe(document.body, { childList: true, subtree: true });
  nameButtons();
}

/** Labels the buttons whose text is hidden until the pointer is over them, for screen readers. */
function nameButtons(): void {
  for (const button of document.querySelectorAll('.scalar-code-copy:not([aria-label])')) {
    const language = button.querySelector('span span')?.textContent ?? '';
    button.setAttribute('aria-label', `Copy ${language}`.trim());
  }
}
