// The worker in Node.

import * as glue from './module.js'
import { serveNode } from './service-node.js'

serveNode(glue)
