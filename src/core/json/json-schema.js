/** Names every place where a value is not what the schema says. Unknown keys are problems of their own kind, and only theirs. */
export function checkJson(value, schema, path = []) {
    if ('anyOf' in schema) {
        const attempts = schema.anyOf.map((option) => checkJson(value, option, path));
        if (attempts.some((problems) => problems.length === 0))
            return [];
        // The option that got furthest into the value is the one that was meant.
        const deepest = attempts.find((problems) => problems.some((problem) => problem.path.length > path.length));
        return deepest ?? [{ type: 'invalid', path, expected: schema.anyOf.map(expectation).join(' or ') }];
    }
    const invalid = [{ type: 'invalid', path, expected: expectation(schema) }];
    switch (schema.type) {
        case 'string':
            return typeof value === 'string' &&
                (schema.enum === undefined || schema.isOpen === true || schema.enum.includes(value))
                ? []
                : invalid;
        case 'integer':
            return Number.isInteger(value) && typeof value === 'number' && value >= schema.minimum && value <= schema.maximum
                ? []
                : invalid;
        case 'boolean':
            return typeof value === 'boolean' ? [] : invalid;
        case 'array':
            return Array.isArray(value) && value.length <= (schema.maxItems ?? Number.POSITIVE_INFINITY)
                ? value.flatMap((item, index) => checkJson(item, schema.items, [...path, index]))
                : invalid;
        case 'object':
            return isObject(value)
                ? [
                    ...Object.entries(value).flatMap(([key, item]) => checkProperty(item, schema, [...path, key], key)),
                    ...missingKeys(value, schema, path),
                ]
                : invalid;
    }
}
/** A missing key is a wrong value at the place where it should be. */
function missingKeys(value, schema, path) {
    if (!('properties' in schema))
        return [];
    return (schema.required ?? [])
        .filter((key) => !Object.hasOwn(value, key))
        .map((key) => {
        const property = schema.properties[key];
        return {
            type: 'invalid',
            path: [...path, key],
            expected: property === undefined ? 'present' : expectation(property),
        };
    });
}
function checkProperty(value, schema, path, key) {
    if (!('properties' in schema))
        return schema.additionalProperties === true ? [] : checkJson(value, schema.additionalProperties, path);
    const property = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    if (property === undefined)
        return [{ type: 'unknown-key', path, expected: Object.keys(schema.properties).join(', ') }];
    return checkJson(value, property, path);
}
function expectation(schema) {
    if ('anyOf' in schema)
        return schema.anyOf.map(expectation).join(' or ');
    switch (schema.type) {
        case 'string':
            return schema.enum === undefined || schema.isOpen === true ? 'a string' : `one of ${schema.enum.join(', ')}`;
        case 'integer':
            return `a whole number from ${schema.minimum} to ${schema.maximum}`;
        case 'boolean':
            return 'true or false';
        case 'array':
            return schema.maxItems === undefined ? 'a list' : `a list of at most ${schema.maxItems}`;
        case 'object':
            return 'an object';
    }
}
/** The schema as it is handed out: JSON Schema and nothing of ours. */
export function publishedSchema(schema) {
    return { ...schema, properties: mapValues(schema.properties, published) };
}
function published(schema) {
    if ('anyOf' in schema)
        return { ...schema, anyOf: schema.anyOf.map(published) };
    switch (schema.type) {
        case 'string': {
            const { isOpen: _, ...rest } = schema;
            return rest;
        }
        case 'array':
            return { ...schema, items: published(schema.items) };
        case 'object':
            if ('properties' in schema)
                return publishedSchema(schema);
            return schema.additionalProperties === true
                ? schema
                : { ...schema, additionalProperties: published(schema.additionalProperties) };
        case 'integer':
        case 'boolean':
            return schema;
    }
}
function mapValues(values, change) {
    return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
export function isObject(value) {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
}
