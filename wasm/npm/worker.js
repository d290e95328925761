// The worker in browsers.

import * as glue from './module.js'
import { serveBrowser } from './service-browser.js'

serveBrowser(glue)
