// The worker in browsers.

import * as glue from './module.js'
import { portOfSelf } from './ports.js'
import { serve } from './service.js'

serve(portOfSelf(), glue)
