// Waveforms of models as files in the VCD format (IEEE 1364-2005, section 18): ports and registers.
#pragma once
#include "verilated.h"

class VerilatedVcdC {
 public:
  VerilatedVcdC() {}
  VerilatedVcdC(const VerilatedVcdC&) = delete;
  VerilatedVcdC& operator=(const VerilatedVcdC&) = delete;
  ~VerilatedVcdC() { close(); }
  bool isOpen() const { return m_file; }
  void open(const char* name) {
    close();
    m_file = fopen(name, "w");
    if (!m_file) return;
    fputs("$version Simfoundry $end\n$timescale 1ps $end\n", m_file);
    for (Traced& one : m_models) declare(one);
    fputs("$enddefinitions $end\n", m_file);
    m_is_first = true;
  }
  void close() {
    if (m_file) fclose(m_file);
    m_file = 0;
  }
  void flush() {
    if (m_file) fflush(m_file);
  }
  void dump(uint64_t time) {
    if (!m_file) return;
    fprintf(m_file, "#%llu\n", (unsigned long long)time);
    for (Traced& one : m_models) write_changes(one);
    m_is_first = false;
  }
  void dump(int64_t time) { dump((uint64_t)time); }
  void dump(uint32_t time) { dump((uint64_t)time); }
  void dump(int time) { dump((uint64_t)time); }
  void dump(double time) { dump((uint64_t)time); }
  void set_time_unit(const char*) {}
  void set_time_resolution(const char*) {}
  void dumpvars(int, const std::string&) {}
  // Called by `trace` of a model, before open.
  void addModel(const VerilatedModel* model) { m_models.push_back({model, m_words, {}, {}}), m_words += model->tracedWords(); }

 private:
  struct Traced {
    const VerilatedModel* model;
    size_t first;  // word of the first signal, among those of all models
    std::vector<uint64_t> values, before;
  };
  static std::string code(size_t number) {
    std::string text;
    do text += (char)('!' + number % 94);
    while (number /= 94);
    return text;
  }
  static std::vector<std::string> scopes(const VerilatedModel& model, const char* below) {
    std::vector<std::string> parts(1, model.name());
    for (const char* at = below; *at;) {
      const char* end = strchr(at, '.');
      parts.push_back(end ? std::string(at, end) : std::string(at));
      at = end ? end + 1 : at + strlen(at);
    }
    return parts;
  }
  void declare(Traced& one) {
    std::vector<std::string> open;
    for (const VerilatedSignal& signal : one.model->tracedSignals()) {
      const std::vector<std::string> parts = scopes(*one.model, signal.scope);
      size_t same = 0;
      while (same < open.size() && same < parts.size() && open[same] == parts[same]) same++;
      for (; open.size() > same; open.pop_back()) fputs("$upscope $end\n", m_file);
      for (; open.size() < parts.size(); open.push_back(parts[open.size()]))
        fprintf(m_file, "$scope module %s $end\n", parts[open.size()].c_str());
      fprintf(m_file, "$var wire %d %s %s", signal.width, code(one.first + signal.word).c_str(), signal.name);
      if (signal.width > 1) fprintf(m_file, " [%d:0]", signal.width - 1);
      fputs(" $end\n", m_file);
    }
    for (; !open.empty(); open.pop_back()) fputs("$upscope $end\n", m_file);
    one.values.assign(one.model->tracedWords() + 1, 0);
    one.before = one.values;
  }
  void write_changes(Traced& one) {
    one.model->tracedValues(one.values.data());
    std::vector<bool> is_written(one.values.size());
    for (const VerilatedSignal& signal : one.model->tracedSignals()) {
      const size_t bytes = (size_t)(signal.width + 63) / 64 * 8;
      const uint64_t* const value = &one.values[signal.word];
      if (is_written[signal.word] || (!m_is_first && !memcmp(value, &one.before[signal.word], bytes))) continue;
      is_written[signal.word] = true;
      write_value(value, signal.width);
      fprintf(m_file, "%s\n", code(one.first + signal.word).c_str());
    }
    one.before = one.values;
  }
  void write_value(const uint64_t* value, int width) {
    if (width > 1) fputc('b', m_file);
    for (int bit = width - 1; bit >= 0; bit--) fputc('0' + (int)(value[bit / 64] >> bit % 64 & 1), m_file);
    if (width > 1) fputc(' ', m_file);
  }

  FILE* m_file = 0;
  std::vector<Traced> m_models;
  size_t m_words = 0;
  bool m_is_first = true;
};
