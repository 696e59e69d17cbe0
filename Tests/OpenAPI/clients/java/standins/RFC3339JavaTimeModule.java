// SPDX-License-Identifier: Apache-2.0
package org.openapitools.client;

import com.fasterxml.jackson.databind.module.SimpleModule;

/** In the place of the generated one, which needs more of Jackson's module. */
public class RFC3339JavaTimeModule extends SimpleModule {}
