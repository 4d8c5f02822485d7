// A log line is an event with fields: log.info("route bound", {{"route", key}, {"router", name}}). Thread-safe.
// The lines go to standard error as text for people or JSON for machines; spdlog writes them (log.cpp is its home).
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace fairlead {

enum class LogLevel { debug, info, warn, error };
enum class LogFormat { text, json };

std::optional<LogLevel> parse_log_level(std::string_view text);
std::optional<LogFormat> parse_log_format(std::string_view text);

struct LogField {
    using Value = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool>;
    std::string_view name;
    Value value;

    LogField(std::string_view n, std::string_view v) : name(n), value(v) {}
    LogField(std::string_view n, const char* v) : name(n), value(std::string_view(v)) {}
    LogField(std::string_view n, const std::string& v) : name(n), value(std::string_view(v)) {}
    LogField(std::string_view n, bool v) : name(n), value(v) {}
    LogField(std::string_view n, double v) : name(n), value(v) {}
    template <std::signed_integral T>
    LogField(std::string_view n, T v) : name(n), value(static_cast<std::int64_t>(v)) {}
    template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>) LogField(std::string_view n, T v)
        : name(n), value(static_cast<std::uint64_t>(v)) {}
};

using LogFields = std::initializer_list<LogField>;

class Log {
public:
    Log(LogLevel level, LogFormat format);
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    [[nodiscard]] bool enabled(LogLevel level) const { return level >= level_; }
    void write(LogLevel level, std::string_view event, LogFields fields = {});
    void debug(std::string_view event, LogFields fields = {}) { write(LogLevel::debug, event, fields); }
    void info(std::string_view event, LogFields fields = {}) { write(LogLevel::info, event, fields); }
    void warn(std::string_view event, LogFields fields = {}) { write(LogLevel::warn, event, fields); }
    void error(std::string_view event, LogFields fields = {}) { write(LogLevel::error, event, fields); }

private:
    struct Sink;
    LogLevel level_;
    LogFormat format_;
    std::unique_ptr<Sink> sink_;
};

}  // namespace fairlead
