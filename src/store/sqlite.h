// The few things we ask of SQLite, as values and Results. sqlite.cpp is the only file that knows sqlite3.h.
// Threads: a Connection and its Statements belong to one thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::store {

class Statement {
public:
    Statement(Statement&&) noexcept;
    Statement& operator=(Statement&&) noexcept;
    ~Statement();

    // Parameters count from 1. Text is not copied: it must live until the statement is stepped to its end or reset.
    void bind(int parameter, std::int64_t value);
    void bind(int parameter, std::string_view text);
    // True while there is a row. After the last one the statement is ready to be bound again.
    Result<bool> step();
    // Steps a statement that has no rows to give.
    Result<void> run();
    void reset();

    // Of the current row; columns count from 0. Bytes are valid until the next step.
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::string_view bytes(int column) const;

private:
    friend class Connection;
    struct Impl;
    explicit Statement(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

class Connection {
public:
    // Errors: corrupt (not a database, or damaged), unavailable (locked, disk full or failing), internal (the rest).
    static Result<Connection> open(const std::filesystem::path& file);
    Connection(Connection&&) noexcept;
    Connection& operator=(Connection&&) noexcept;
    ~Connection();

    Result<void> run(const std::string& sql);
    Result<std::int64_t> ask(const std::string& sql);  // the first column of the first row
    Result<Statement> prepare(std::string_view sql);
    // Does nothing outside a transaction (SQLite ends some by itself when the disk fails).
    void roll_back();

    // Pages in the write-ahead log after the last commit on this connection.
    [[nodiscard]] std::uint64_t log_pages() const;
    // Copies what it can from the log into the file without making anyone wait. True if that was everything.
    Result<bool> checkpoint();

private:
    struct Impl;
    explicit Connection(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::store
