// What test benches of Verilator's models use of its runtime: types of ports, the context, and signals for waveforms.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <string>
#include <vector>

typedef uint8_t CData;   // up to 8 bits
typedef uint16_t SData;  // up to 16
typedef uint32_t IData;  // up to 32
typedef uint64_t QData;  // up to 64
typedef uint32_t EData;  // word of a wider port
typedef EData WData;
typedef WData* WDataOutP;
typedef const WData* WDataInP;
typedef uint8_t vluint8_t;
typedef uint16_t vluint16_t;
typedef uint32_t vluint32_t;
typedef uint64_t vluint64_t;
typedef int8_t vlsint8_t;
typedef int16_t vlsint16_t;
typedef int32_t vlsint32_t;
typedef int64_t vlsint64_t;

#define VL_PRINTF printf
#define VL_UL(value) ((IData)(value##UL))
#define VL_ULL(value) ((QData)(value##ULL))
#define VL_EDATASIZE 32
#define VL_WORDS_I(bits) (((bits) + 31) / 32)
#define VL_MASK_I(bits) ((bits) % 32 ? (1u << (bits) % 32) - 1 : ~0u)
#define VL_MASK_Q(bits) ((bits) % 64 ? (1ull << (bits) % 64) - 1 : ~0ull)

// A port of more than 64 bits: words of 32 bits, the lowest first.
template <size_t N>
struct VlWide {
  EData m_storage[N];
  EData& operator[](size_t i) { return m_storage[i]; }
  const EData& operator[](size_t i) const { return m_storage[i]; }
  EData& at(size_t i) { return m_storage[i]; }
  const EData& at(size_t i) const { return m_storage[i]; }
  EData* data() { return m_storage; }
  const EData* data() const { return m_storage; }
  operator WDataOutP() { return m_storage; }
  operator WDataInP() const { return m_storage; }
  bool operator==(const VlWide& other) const { return !memcmp(m_storage, other.m_storage, sizeof m_storage); }
  bool operator!=(const VlWide& other) const { return !(*this == other); }
};

class VerilatedContext {
 public:
  void commandArgs(int argc, const char** argv) { m_arguments.assign(argv, argv + argc); }
  void commandArgs(int argc, char** argv) { commandArgs(argc, (const char**)argv); }
  void commandArgsAdd(int argc, const char** argv) { m_arguments.insert(m_arguments.end(), argv, argv + argc); }
  // The argument that begins with + and this text, or an empty one.
  const char* commandArgsPlusMatch(const char* prefix) {
    for (const std::string& one : m_arguments)
      if (one.size() > 1 && one[0] == '+' && !one.compare(1, strlen(prefix), prefix)) return one.c_str();
    return "";
  }
  uint64_t time() const { return m_time; }
  void time(uint64_t value) { m_time = value; }
  void timeInc(uint64_t add) { m_time += add; }
  bool gotFinish() const { return m_has_finished; }
  void gotFinish(bool value) { m_has_finished = value; }
  bool gotError() const { return m_has_failed; }
  void gotError(bool value) { m_has_failed = value; }
  void traceEverOn(bool value) { m_is_traced = value; }
  bool calcUnusedSigs() const { return m_is_traced; }
  // These have no effect: undefined bits are 0, and a design prints and asserts nothing.
  void randReset(int value) { m_random = value; }
  int randReset() const { return m_random; }
  void randSeed(int value) { m_seed = value; }
  int randSeed() const { return m_seed; }
  void debug(int level) { m_debug = level; }
  int debug() const { return m_debug; }
  void assertOn(bool value) { m_asserts = value; }
  bool assertOn() const { return m_asserts; }
  void fatalOnVpiError(bool) {}
  void errorLimit(int) {}
  void threads(unsigned) {}
  unsigned threads() const { return 1; }
  int timeunit() const { return -12; }
  int timeprecision() const { return -12; }
  void timeunit(int) {}
  void timeprecision(int) {}

 private:
  std::vector<std::string> m_arguments;
  uint64_t m_time = 0;
  int m_random = 0, m_seed = 0, m_debug = 0;
  bool m_has_finished = false, m_has_failed = false, m_is_traced = false, m_asserts = true;
};

// Functions of the context that a model has which was constructed without one.
class Verilated {
 public:
  static VerilatedContext* defaultContextp() {
    static VerilatedContext context;
    return &context;
  }
  static VerilatedContext* threadContextp() { return defaultContextp(); }
  static void commandArgs(int argc, const char** argv) { defaultContextp()->commandArgs(argc, argv); }
  static void commandArgs(int argc, char** argv) { defaultContextp()->commandArgs(argc, argv); }
  static const char* commandArgsPlusMatch(const char* prefix) { return defaultContextp()->commandArgsPlusMatch(prefix); }
  static uint64_t time() { return defaultContextp()->time(); }
  static void time(uint64_t value) { defaultContextp()->time(value); }
  static void timeInc(uint64_t add) { defaultContextp()->timeInc(add); }
  static bool gotFinish() { return defaultContextp()->gotFinish(); }
  static void gotFinish(bool value) { defaultContextp()->gotFinish(value); }
  static void traceEverOn(bool value) { defaultContextp()->traceEverOn(value); }
  static void randReset(int value) { defaultContextp()->randReset(value); }
  static int randReset() { return defaultContextp()->randReset(); }
  static void randSeed(int value) { defaultContextp()->randSeed(value); }
  static void debug(int level) { defaultContextp()->debug(level); }
  static int debug() { return defaultContextp()->debug(); }
  static void assertOn(bool value) { defaultContextp()->assertOn(value); }
  static void fatalOnVpiError(bool) {}
  static void mkdir(const char* name) { ::mkdir(name, 0777); }
  static void flushCall() { fflush(stdout); }
  static void runFlushCallbacks() { flushCall(); }
  static void runExitCallbacks() {}
  static const char* productName() { return "Simfoundry"; }
  static const char* productVersion() { return "Simfoundry"; }
};

// A signal of a waveform: its values are words of 64 bits from `word` on; signals with the same word are one.
struct VerilatedSignal {
  const char* scope;  // below the model, with dots; empty for its ports
  const char* name;
  int width;
  size_t word;
};

class VerilatedModel {
 public:
  VerilatedModel(VerilatedContext* context, const char* name)
      : m_context(context ? context : Verilated::threadContextp()), m_name(name) {}
  VerilatedModel(const VerilatedModel&) = delete;
  VerilatedModel& operator=(const VerilatedModel&) = delete;
  virtual ~VerilatedModel() {}
  VerilatedContext* contextp() const { return m_context; }
  const char* name() const { return m_name.c_str(); }
  virtual const char* hierName() const { return name(); }
  virtual const char* modelName() const = 0;
  virtual unsigned threads() const { return 1; }
  virtual const std::vector<VerilatedSignal>& tracedSignals() const = 0;
  virtual void tracedValues(uint64_t* words) const = 0;
  virtual size_t tracedWords() const = 0;

 private:
  VerilatedContext* const m_context;
  const std::string m_name;
};
