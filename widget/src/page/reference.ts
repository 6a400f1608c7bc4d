// The API reference: Swagger UI with this server's API description.

import SwaggerUi from 'swagger-ui-dist/swagger-ui-es-bundle.js';

const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

SwaggerUi({
  url: '/openapi.json',
  domNode: document.getElementById('reference'),
  deepLinking: true,
  // Schemas are shown with the operations that use them.
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
});
