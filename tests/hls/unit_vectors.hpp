// Operands that are hard for arithmetic units, drawn from one deterministic stream.
//
// A floating operand is a sign, an exponent field and a fraction, each chosen by a rule of its own, so that
// corner cases of all three meet: zeros, subnormals, the smallest and largest normal numbers, infinities,
// quiet and signalling NaN, neighbours of powers of two, sparse fractions (halfway cases), runs of ones,
// exponents close together (cancellation), results near underflow and overflow.
#pragma once

#include <cstdint>
#include <cstring>

struct Stream {  // xorshift64*, Vigna 2016
  uint64_t state;
  uint64_t next() {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1Dull;
  }
  uint64_t below(uint64_t limit) { return (next() >> 20) % limit; }
  int64_t between(int64_t low, int64_t high) { return low + int64_t(below(uint64_t(high - low + 1))); }
};

struct Format {
  int exponent, fraction;
  uint64_t ones() const { return (1ull << exponent) - 1; }
  uint64_t fractions() const { return (1ull << fraction) - 1; }
  int64_t bias() const { return int64_t(ones() >> 1); }
  int width() const { return exponent + fraction + 1; }
  uint64_t pack(uint64_t sign, uint64_t field, uint64_t part) const {
    return (sign << (exponent + fraction)) | (field << fraction) | part;
  }
  bool is_nan(uint64_t bits) const {
    return ((bits >> fraction) & ones()) == ones() && (bits & fractions()) != 0;
  }
};

constexpr Format FLOAT_FORMAT{8, 23}, DOUBLE_FORMAT{11, 52};

inline uint64_t low_bits(int count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }

// Bits with structure: random, few ones, runs of ones or zeros, near both ends, halfway below a cut.
inline uint64_t draw_pattern(Stream &s, int width) {
  uint64_t mask = low_bits(width);
  switch (s.below(9)) {
    case 0: return 0;
    case 1: return mask;
    case 2: return s.below(4);
    case 3: return mask - s.below(4);
    case 4: return (1ull << s.below(width)) & mask;
    case 5: return ((1ull << s.below(width)) - 1 + s.below(3)) & mask;
    case 6: return (s.next() << s.below(width)) & mask;                       // trailing zeros
    case 7: return ((s.next() | 1) << s.below(width) | (1ull << s.below(width))) & mask;
    default: return s.next() & mask;
  }
}

inline int64_t clip(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

inline uint64_t draw_float(Stream &s, const Format &f) {
  int64_t top = int64_t(f.ones());
  int64_t field;
  switch (s.below(8)) {
    case 0: field = 0; break;
    case 1: field = s.between(0, 2); break;
    case 2: field = s.between(top - 3, top); break;
    case 3: field = s.between(f.bias() - 2, f.bias() + 2); break;
    case 4: field = s.between(0, f.fraction + 3); break;
    case 5: field = s.between(f.bias() - f.fraction - 3, f.bias() + 66 < top ? f.bias() + 66 : top); break;
    default: field = s.between(0, top); break;
  }
  uint64_t part = s.below(2) ? s.next() & f.fractions() : draw_pattern(s, f.fraction);
  return f.pack(s.below(2), uint64_t(field), part);
}

// A second operand that has to do with the first one.
inline uint64_t draw_partner(Stream &s, const Format &f, uint64_t a) {
  int64_t top = int64_t(f.ones()), other = int64_t((a >> f.fraction) & f.ones());
  uint64_t part = s.below(2) ? s.next() & f.fractions() : draw_pattern(s, f.fraction);
  int64_t field;
  switch (s.below(10)) {
    case 0: return a ^ (s.below(2) << (f.width() - 1));                        // equal magnitude
    case 1: return (a + uint64_t(s.between(-4, 4))) ^ (s.below(2) << (f.width() - 1));  // a few ulp away
    case 2: field = other + s.between(-2, 2); break;                           // cancellation
    case 3: field = other + s.between(-f.fraction - 4, f.fraction + 4); break; // every alignment
    case 4: field = f.bias() - other + s.between(-f.fraction - 4, 3); break;   // product near underflow
    case 5: field = top + f.bias() - other + s.between(-4, 2); break;          // product near overflow
    case 6: field = other + f.bias() + s.between(-3, f.fraction + 4); break;   // quotient near underflow
    case 7: field = other - f.bias() + s.between(-4, 3); break;                // quotient near overflow
    default: return draw_float(s, f);
  }
  return f.pack(s.below(2), uint64_t(clip(field, 0, top)), part) & low_bits(f.width());
}

// An integer of some bits, extended to 64; all lengths occur.
inline uint64_t draw_integer(Stream &s, int width, bool is_signed) {
  uint64_t value = s.below(2) ? s.next() >> s.below(64) : draw_pattern(s, 1 + int(s.below(width)));
  if (s.below(2)) value = 0 - value;
  value &= low_bits(width);
  if (is_signed && (value >> (width - 1) & 1)) value |= ~low_bits(width);
  return value;
}

// A floating operand that mostly is in the range of an integer type.
inline uint64_t draw_near_integers(Stream &s, const Format &f, int width) {
  if (s.below(8) == 0) return draw_float(s, f);
  int64_t field = f.bias() + s.between(-2, width);
  uint64_t part = s.below(2) ? s.next() & f.fractions() : draw_pattern(s, f.fraction);
  return f.pack(s.below(2), uint64_t(field), part);
}
