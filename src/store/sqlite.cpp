#include "store/sqlite.h"

#include <fmt/core.h>
#include <sqlite3.h>

namespace fairlead::store {
namespace {

// Only a person with a sqlite3 shell can make us wait for the file's lock; then 5 s is what a request may take.
constexpr int busy_timeout_ms = 5'000;

template <auto close>
struct CloseWith {
    template <class T>
    void operator()(T* handle) const {
        close(handle);
    }
};
using Database = std::unique_ptr<sqlite3, CloseWith<sqlite3_close_v2>>;
using Compiled = std::unique_ptr<sqlite3_stmt, CloseWith<sqlite3_finalize>>;

Errc code_of(int result) {
    switch (result & 0xff) {
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_FORMAT:
            return Errc::corrupt;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_FULL:
        case SQLITE_IOERR:
        case SQLITE_NOMEM:
        case SQLITE_READONLY:
            return Errc::unavailable;
        default:
            return Errc::internal;
    }
}

tl::unexpected<Error> failure(sqlite3* database, int result) {
    const char* const file = sqlite3_db_filename(database, "main");
    return fail(code_of(result), file == nullptr ? "" : file,
                fmt::format("{} (SQLite error {}, system error {})", sqlite3_errmsg(database),
                            sqlite3_extended_errcode(database), sqlite3_system_errno(database)));
}

}  // namespace

struct Statement::Impl {
    Compiled compiled;
};

Statement::Statement(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Statement::Statement(Statement&&) noexcept = default;
Statement& Statement::operator=(Statement&&) noexcept = default;
Statement::~Statement() = default;

void Statement::bind(int parameter, std::int64_t value) { sqlite3_bind_int64(impl_->compiled.get(), parameter, value); }

void Statement::bind(int parameter, std::string_view text) {
    // A null pointer would bind NULL, not the empty text.
    const char* const data = text.data() == nullptr ? "" : text.data();
    sqlite3_bind_text64(impl_->compiled.get(), parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

Result<bool> Statement::step() {
    const int result = sqlite3_step(impl_->compiled.get());
    if (result == SQLITE_ROW) return true;
    sqlite3* const database = sqlite3_db_handle(impl_->compiled.get());
    if (result == SQLITE_DONE) {
        sqlite3_reset(impl_->compiled.get());
        return false;
    }
    auto error = failure(database, result);
    sqlite3_reset(impl_->compiled.get());
    return error;
}

Result<void> Statement::run() {
    while (true) {
        auto row = step();
        if (!row) return fail(std::move(row.error()));
        if (!*row) return {};
    }
}

void Statement::reset() { sqlite3_reset(impl_->compiled.get()); }

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(impl_->compiled.get(), column); }

std::string_view Statement::bytes(int column) const {
    const auto* const data = static_cast<const char*>(sqlite3_column_blob(impl_->compiled.get(), column));
    const int size = sqlite3_column_bytes(impl_->compiled.get(), column);
    return data == nullptr ? std::string_view() : std::string_view(data, static_cast<std::size_t>(size));
}

struct Connection::Impl {
    Database database;
    std::uint64_t log_pages = 0;
};

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;
Connection::~Connection() = default;

Result<Connection> Connection::open(const std::filesystem::path& file) {
    sqlite3* raw = nullptr;
    const int result =
        sqlite3_open_v2(file.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    auto impl = std::make_unique<Impl>();
    impl->database.reset(raw);
    if (result != SQLITE_OK) {
        if (raw == nullptr) return fail(Errc::internal, file.string(), "SQLite has no memory to open it");
        return fail(code_of(result), file.string(), sqlite3_errmsg(raw));
    }
    sqlite3_extended_result_codes(raw, 1);
    sqlite3_busy_timeout(raw, busy_timeout_ms);
    // The hook takes the place of SQLite's own checkpoints, which would run inside a commit.
    sqlite3_wal_hook(
        raw,
        [](void* own, sqlite3*, const char*, int pages) {
            static_cast<Impl*>(own)->log_pages = static_cast<std::uint64_t>(pages);
            return SQLITE_OK;
        },
        impl.get());
    return Connection(std::move(impl));
}

Result<void> Connection::run(const std::string& sql) {
    const int result = sqlite3_exec(impl_->database.get(), sql.c_str(), nullptr, nullptr, nullptr);
    if (result != SQLITE_OK) return failure(impl_->database.get(), result);
    return {};
}

Result<std::int64_t> Connection::ask(const std::string& sql) {
    auto statement = prepare(sql);
    if (!statement) return fail(std::move(statement.error()));
    auto row = statement->step();
    if (!row) return fail(std::move(row.error()));
    if (!*row) return fail(Errc::internal, sql, "gave no answer");
    return statement->integer(0);
}

Result<Statement> Connection::prepare(std::string_view sql) {
    sqlite3_stmt* raw = nullptr;
    const int result = sqlite3_prepare_v3(impl_->database.get(), sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    if (result != SQLITE_OK) return failure(impl_->database.get(), result);
    auto statement = std::make_unique<Statement::Impl>();
    statement->compiled.reset(raw);
    return Statement(std::move(statement));
}

void Connection::roll_back() {
    if (sqlite3_get_autocommit(impl_->database.get()) != 0) return;
    // If this fails too, the next BEGIN says so.
    sqlite3_exec(impl_->database.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

std::uint64_t Connection::log_pages() const { return impl_->log_pages; }

Result<bool> Connection::checkpoint() {
    int in_log = 0;
    int copied = 0;
    const int result =
        sqlite3_wal_checkpoint_v2(impl_->database.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, &in_log, &copied);
    if (result != SQLITE_OK) return failure(impl_->database.get(), result);
    return in_log == copied;
}

}  // namespace fairlead::store
