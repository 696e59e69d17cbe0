// SPDX-License-Identifier: Apache-2.0
package com.fasterxml.jackson.datatype.jsr310;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import java.io.IOException;
import java.time.OffsetDateTime;

/** In the place of Jackson's module of this name, which Debian does not have. */
public class JavaTimeModule extends SimpleModule {
    public JavaTimeModule() {
        addSerializer(OffsetDateTime.class, new JsonSerializer<OffsetDateTime>() {
            @Override
            public void serialize(OffsetDateTime value, JsonGenerator json, SerializerProvider any) throws IOException {
                json.writeString(value.toString());
            }
        });
        addDeserializer(OffsetDateTime.class, new JsonDeserializer<OffsetDateTime>() {
            @Override
            public OffsetDateTime deserialize(JsonParser json, DeserializationContext any) throws IOException {
                return OffsetDateTime.parse(json.getText());
            }
        });
    }
}
