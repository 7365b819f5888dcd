// Marks what libberth.so exports.
#pragma once

#define BERTH_API [[gnu::visibility("default")]]
