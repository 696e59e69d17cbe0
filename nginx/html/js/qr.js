// SPDX-License-Identifier: Apache-2.0
// A text as a QR code (ISO/IEC 18004): bytes, error correction M, versions 1 to 10, which hold up to 213 bytes.

/** Of versions 1 to 10: all codewords, those for error correction in each block, and how many blocks. */
const versions = [
    [26, 10, 1], [44, 16, 1], [70, 26, 1], [100, 18, 2], [134, 24, 2], [172, 16, 4], [196, 18, 4], [242, 22, 4],
    [292, 22, 5], [346, 26, 5],
];
const masks = [
    (x, y) => (x + y) % 2, (x, y) => y % 2, (x) => x % 3, (x, y) => (x + y) % 3,
    (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2, (x, y) => (x * y) % 2 + (x * y) % 3,
    (x, y) => ((x * y) % 2 + (x * y) % 3) % 2, (x, y) => ((x + y) % 2 + (x * y) % 3) % 2,
];

/** Rows of modules, true for dark ones, without the quiet zone. Throws RangeError for a text that is too long. */
export function qrCode(text) {
    const bytes = new TextEncoder().encode(text);
    const version = versions.findIndex(([all, correcting, blocks], index) =>
        bytes.length + (index < 9 ? 2 : 3) <= all - correcting * blocks) + 1;
    if (version === 0) throw new RangeError(`${bytes.length} bytes are too many for a code`);
    const plain = functionPatterns(version);
    const bits = codewords(bytes, version).flatMap((word) => digits(word, 8));
    const candidates = masks.map((mask, number) => {
        const code = plain.map((row) => [...row]);
        writeFormat(code, number);
        place(code, plain, bits, mask);
        return code;
    });
    return candidates.reduce((best, one) => (penalty(one) < penalty(best) ? one : best));
}

/** The bits of a number, the highest first. */
const digits = (number, count) => Array.from({ length: count }, (_, index) => number >> (count - 1 - index) & 1);

// MARK: What is encoded

function codewords(bytes, version) {
    const [all, correcting, blocks] = versions[version - 1];
    const room = all - correcting * blocks;
    const bits = [...digits(0b0100, 4), ...digits(bytes.length, version < 10 ? 8 : 16), ...[...bytes].flatMap((byte) => digits(byte, 8))];
    bits.push(...digits(0, Math.min(4, room * 8 - bits.length)));
    while (bits.length % 8 !== 0) bits.push(0);
    const data = [];
    for (let at = 0; at < bits.length; at += 8) data.push(Number.parseInt(bits.slice(at, at + 8).join(''), 2));
    for (let pad = 0xec; data.length < room; pad ^= 0xec ^ 0x11) data.push(pad);
    // The last blocks have a codeword more, where it does not come out even.
    const short = Math.floor(room / blocks);
    const parts = [];
    for (let at = 0, block = 0; block < blocks; block += 1) {
        const length = short + (block < blocks - room % blocks ? 0 : 1);
        parts.push(data.slice(at, at += length));
    }
    return [...interleaved(parts), ...interleaved(parts.map((part) => remainder(part, correcting)))];
}

/** The first of each, then the second of each. */
function interleaved(parts) {
    const longest = Math.max(...parts.map((part) => part.length));
    return Array.from({ length: longest }, (_, index) => parts.filter((part) => index < part.length).map((part) => part[index])).flat();
}

/** The product in GF(256), modulo x^8 + x^4 + x^3 + x^2 + 1. */
function product(one, other) {
    let result = 0;
    for (let bit = 7; bit >= 0; bit -= 1) {
        result = result << 1 ^ (result >> 7) * 0x11d;
        result ^= (other >> bit & 1) * one;
    }
    return result;
}

/** The codewords for error correction (Reed-Solomon). */
function remainder(data, count) {
    let generator = [1];
    for (let index = 0, root = 1; index < count; index += 1, root = product(root, 2)) {
        generator = [...generator, 0].map((factor, place) => factor ^ (place > 0 ? product(generator[place - 1], root) : 0));
    }
    const rest = Array(count).fill(0);
    for (const word of data) {
        const factor = word ^ rest.shift();
        rest.push(0);
        for (let index = 0; index < count; index += 1) rest[index] ^= product(generator[index + 1], factor);
    }
    return rest;
}

/** A number with its check bits (BCH). */
function checked(number, generator, count) {
    let rest = number << count;
    for (let bit = 31 - Math.clz32(rest); bit >= count; bit -= 1) {
        if (rest >> bit & 1) rest ^= generator << (bit - count);
    }
    return number << count | rest;
}

// MARK: Where it stands

/** What is the same for every text of the version; undefined where data go, and false where the format will stand. */
function functionPatterns(version) {
    const size = 17 + 4 * version;
    const code = Array.from({ length: size }, () => Array(size).fill(undefined));
    const square = (centerX, centerY, reach, isDark) => {
        for (let y = -reach; y <= reach; y += 1) {
            for (let x = -reach; x <= reach; x += 1) {
                const row = code[centerY + y];
                if (row && centerX + x >= 0 && centerX + x < size) row[centerX + x] = isDark(Math.max(Math.abs(x), Math.abs(y)));
            }
        }
    };
    for (let at = 8; at < size - 8; at += 1) code[6][at] = code[at][6] = at % 2 === 0;
    const last = size - 7;
    const places = version === 1 ? [] : version < 7 ? [6, last] : [6, (last + 6) / 2, last];
    for (const x of places) {
        for (const y of places) {
            const isInCorner = (x === 6 && y === 6) || (x === 6 && y === last) || (x === last && y === 6);
            if (!isInCorner) square(x, y, 2, (distance) => distance !== 1);
        }
    }
    // With the light frame around them.
    for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(x, y, 4, (distance) => distance !== 2 && distance !== 4);
    writeFormat(code, 0);
    if (version > 6) {
        const bits = digits(checked(version, 0x1f25, 12), 18).reverse();
        bits.forEach((bit, index) => {
            const [near, far] = [Math.floor(index / 3), size - 11 + index % 3];
            code[near][far] = code[far][near] = bit === 1;
        });
    }
    return code;
}

/** Twice: the level, which is 0 for M, and the mask. */
function writeFormat(code, mask) {
    const size = code.length;
    const bits = digits(checked(mask, 0x537, 10) ^ 0x5412, 15).reverse().map((bit) => bit === 1);
    bits.forEach((bit, index) => {
        const along = index < 6 ? index : index < 8 ? index + 1 : index;
        if (index < 8) code[along][8] = code[8][size - 1 - index] = bit;
        else {
            code[8][index === 8 ? 7 : 14 - index] = bit;
            code[size - 15 + index][8] = bit;
        }
    });
    code[size - 8][8] = true;
}

/** Two columns at a time from the right, up and down in turn. Bits that are too few are light. */
function place(code, plain, bits, mask) {
    const size = code.length;
    let next = 0;
    for (let right = size - 1, isUpwards = true; right > 0; right -= 2, isUpwards = !isUpwards) {
        if (right === 6) right = 5;
        for (let step = 0; step < size; step += 1) {
            const y = isUpwards ? size - 1 - step : step;
            for (const x of [right, right - 1]) {
                if (plain[y][x] !== undefined) continue;
                code[y][x] = ((bits[next] ?? 0) === 1) !== (mask(x, y) === 0);
                next += 1;
            }
        }
    }
}

/** How badly a reader sees the code: long lines, blocks, what looks like a corner, and too much of one kind. */
function penalty(code) {
    const size = code.length;
    const columns = code.map((_, x) => code.map((row) => row[x]));
    let points = 0;
    for (const line of [...code, ...columns]) {
        const text = line.map(Number).join('');
        for (const [run] of text.matchAll(/0{5,}|1{5,}/g)) points += run.length - 2;
        for (const pattern of ['10111010000', '00001011101']) {
            for (let at = text.indexOf(pattern); at >= 0; at = text.indexOf(pattern, at + 1)) points += 40;
        }
    }
    for (let y = 1; y < size; y += 1) {
        for (let x = 1; x < size; x += 1) {
            const kinds = new Set([code[y][x], code[y - 1][x], code[y][x - 1], code[y - 1][x - 1]]);
            if (kinds.size === 1) points += 3;
        }
    }
    const share = code.flat().filter(Boolean).length / (size * size);
    return points + Math.floor(Math.abs(share - .5) * 20) * 10;
}
