/* Tags as exiftool wrote them (tests/fixtures/photos), the XML that is refused, and sidecars whose
 * other bytes stay. */
#include "tests/support/scratch.h"
#include "tests/support/unit.h"
#include "vit/photos/tags.h"
#include "vit/photos/xmp_edit.h"

#include <stdio.h>
#include <string.h>

/* The tags of a picture, "Animals/Cat;sunny", or the error. */
static char said[1200];

static const char *tags_of(const char *path) {
    vit_tags tags;
    vit_error error = {0};
    said[0] = 0;
    if (vit_tags_read(&tags, path, &error) != VIT_OK)
        snprintf(said, sizeof said, "%s", error.message);
    for (size_t i = 0; i < tags.count; i++) {
        if (i > 0) strcat(said, ";");
        strcat(said, tags.tags[i].path);
    }
    vit_tags_free(&tags);
    return said;
}

#define PHOTOS "tests/fixtures/photos/"

static void test_embedded(void **state) {
    static const char *const endings[] = {"jpg", "png", "webp", "heic", "tif"};
    char path[128];
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, PHOTOS "lr.%s", endings[i]);
        assert_string_equal(tags_of(path), "Animals/Cat;sunny & warm");
        snprintf(path, sizeof path, PHOTOS "dk.%s", endings[i]);
        assert_string_equal(tags_of(path), "Animals/Dog;Places/Köln");
        snprintf(path, sizeof path, PHOTOS "apple.%s", endings[i]);
        assert_string_equal(tags_of(path), "Bird;Zoo");
    }
    assert_string_equal(tags_of(PHOTOS "iptc.jpg"), "Fish;Mönch");
    assert_string_equal(tags_of(PHOTOS "iptcu.jpg"), "Fish;Mönch");
    assert_string_equal(tags_of(PHOTOS "iptc.png"), "Fish;Mönch");
    assert_string_equal(tags_of(PHOTOS "iptc.tif"), "Fish;Mönch");
    assert_string_equal(tags_of(PHOTOS "big.tif"), "Animals/Cat;sunny & warm");
    assert_string_equal(tags_of(PHOTOS "plain.jpg"), "");
}

#define BEGIN                                                                                \
    "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF "                                          \
    "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description rdf:about='' " \
    "xmlns:dc='http://purl.org/dc/elements/1.1/' xmlns:lr='http://ns.adobe.com/lightroom/1.0/'"
#define END "</rdf:Description></rdf:RDF></x:xmpmeta>"
#define BAG(name, items) "<" name "><rdf:Bag>" items "</rdf:Bag></" name ">"
#define LI(text) "<rdf:li>" text "</rdf:li>"

/* A segment of JPEG: its name with a zero byte, then the content. */
static void put_segment(FILE *file, const char *name, const char *content, size_t size) {
    const size_t length = 2 + strlen(name) + 1 + size;
    fprintf(file, "\xff\xe1%c%c%s%c", (int)(length >> 8), (int)(length & 255), name, 0);
    fwrite(content, 1, size, file);
}

static void put_portion(FILE *file, const char *whole, size_t begin, size_t size) {
    char content[1000];
    const size_t length = strlen(whole);
    snprintf(content, sizeof content, "%s%c%c%c%c%c%c%c%c", "0123456789abcdef0123456789ABCDEF", 0,
             0, (int)(length >> 8), (int)(length & 255), 0, 0, (int)(begin >> 8),
             (int)(begin & 255));
    memcpy(content + 40, whole + begin, size);
    put_segment(file, "http://ns.adobe.com/xmp/extension/", content, 40 + size);
}

/* A packet in two parts, the second in two portions, the last first; and one portion alone. */
static void test_extended(void **state) {
    static const char first[] =
        BEGIN " xmlns:xmpNote='http://ns.adobe.com/xmp/note/'"
              " xmpNote:HasExtendedXMP="
              "'0123456789abcdef0123456789ABCDEF'>" BAG("dc:subject", LI("Cat") LI("sunny")) END;
    static const char more[] = BEGIN ">" BAG("lr:hierarchicalSubject", LI("Animals|Cat")) END;
    for (int portions = 2; portions > 0; portions--) {
        FILE *file = fopen("e.jpg", "wb");
        fputs("\xff\xd8", file);
        put_segment(file, "http://ns.adobe.com/xap/1.0/", first, strlen(first));
        put_portion(file, more, 90, strlen(more) - 90);
        if (portions == 2) put_portion(file, more, 0, 90);
        fputs("\xff\xd9", file);
        fclose(file);
        assert_string_equal(tags_of("e.jpg"), portions == 2 ? "Animals/Cat;sunny" : "Cat;sunny");
    }
}

static void test_sidecars(void **state) {
    put_file("a.jpg", "no picture");
    assert_string_equal(tags_of("a.jpg"), "");
    put_file("a.xmp", BEGIN ">" BAG("dc:subject", LI(" AC/DC ") LI("<![CDATA[R&B]]>")) END);
    assert_string_equal(tags_of("a.jpg"), "AC/DC;R&B");
    put_file("a.jpg.xmp", BEGIN " dc:subject='in short'>" BAG("lr:hierarchicalSubject",
                                                              LI("A|B") LI("darktable|format|jpg"))
                              BAG("dc:subject", LI("B") LI("format") LI("&#x42;")) END);
    assert_string_equal(tags_of("a.jpg"), "A/B;in short;AC/DC;R&B");
    remove("a.xmp");
    put_file("a.jpg.xmp", "<x");
    assert_non_null(strstr(tags_of("a.jpg"), "a.jpg.xmp: byte 2: "));
}

/* digiKam's, with names that XML writes otherwise, and lists of other programs beside it. */
static void test_digikam(void **state) {
    put_file("b.jpg", "no picture");
    put_file("b.jpg.xmp", BEGIN
             " xmlns:digiKam='http://www.digikam.org/ns/1.0/' "
             "xmlns:MicrosoftPhoto='http://ns.microsoft.com/photo/1.0/' "
             "digiKam:ColorLabel='0' MicrosoftPhoto:Rating='75'>"
             "<digiKam:TagsList><rdf:Seq>" LI("Tiere/Katze, klein")
                 LI("Tiere/Hund &amp; &quot;Co&quot;") LI("Orte/K\xc3\xb6ln &#128008;") LI(
                     "Leute/O'Neil &lt;x>") LI("_Digikam_Internal_Tags_/Color Label None")
                     LI("100%") "</rdf:Seq></digiKam:TagsList>" BAG("MicrosoftPhoto:LastKeywordXMP",
                                                                    LI("Tiere/Fremd"))
                         BAG("lr:hierarchicalSubject", LI("Tiere|Katze, klein") LI("AC/DC|Live"))
                             BAG("dc:subject", LI("Katze, klein") LI("Live") LI("100%")
                                                   LI("Color Label None")) END);
    assert_string_equal(tags_of("b.jpg"),
                        "Tiere/Katze, klein;Tiere/Hund & \"Co\";Orte/K\xc3\xb6ln \xf0\x9f\x90\x88;"
                        "Leute/O'Neil <x>;100%;AC/DC/Live");
}

/* The message about a sidecar of this text. */
static const char *refusal(const char *text) {
    vit_xmp xmp;
    vit_error error = {0};
    const vit_status status = vit_xmp_read(&xmp, text, strlen(text), "s", &error);
    vit_xmp_free(&xmp);
    assert_int_not_equal(status, VIT_OK);
    snprintf(said, sizeof said, "%s", error.message);
    return said;
}

static void test_refused(void **state) {
    char deep[1000] = "";
    static const char *const cases[][2] = {
        {"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "document type"},
        {"<a>&b;</a>", "a reference is none of"},
        {"<a>&#0;</a>", "a reference is none of"},
        {"<a>&#xd800;</a>", "a reference is none of"},
        {"<?xml version='1.0' encoding='UTF-16'?><a/>", "another one than UTF-8"},
        {"\xff\xfe<", "UTF-16"},
        {"<a>\xe9</a>", "not UTF-8"},
        {"<a>\x01</a>", "control character"},
        {"<a b='1' b='2'/>", "comes twice"},
        {"<a b='<'/>", "a quote does not end"},
        {"<a></b>", "not the innermost"},
        {"<a>", "ends before its root"},
        {"<a/><b/>", "a second root"},
        {"<a/>b", "outside of the root"},
        {"<b:a/>", "not declared"},
        {"<a/>", "no rdf:RDF"},
        {"", "ends before its root"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_non_null(strstr(refusal(cases[i][0]), cases[i][1]));
    for (int i = 0; i < 60; i++) strcat(deep, "<a>");
    assert_non_null(strstr(refusal(deep), "deeper than is read"));
}

static const char sidecar[] =
    "\xef\xbb\xbf<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?>\r\n" BEGIN " dc:format='x'>\n"
    "  <!-- kept -->" BAG("dc:subject", "\n   " LI("Old &amp; dear") "\n  ") "\n" END
                                                                             "<?xpacket end='w'?>";

static const char *edit(vit_string *out, const char *text, const char *path) {
    const vit_xmp_answer answer = {path, 0.5f};
    const vit_xmp_answers answers = {"m", &answer, path ? 1 : 0};
    vit_error error;
    assert_int_equal(vit_xmp_edit(out, text, strlen(text), "s", &answers, &error), VIT_OK);
    return out->text;
}

/* What the edited text has more than the old one is in two places. */
static void test_edited(void **state) {
    vit_string once, twice, other, none;
    vit_xmp xmp;
    const char *text = edit(&once, sidecar, "Animals/Cat & Co");
    const size_t head = (size_t)(strstr(sidecar, "</rdf:li>") + 9 - sidecar);
    assert_memory_equal(text, sidecar, head);
    assert_memory_equal(text + head, "\n   <rdf:li>Cat &amp; Co</rdf:li>", 33);
    assert_memory_equal(text + head + 33, sidecar + head,
                        (size_t)(strstr(sidecar, "\n</rdf:Desc") - sidecar) - head);
    assert_string_equal(strstr(text, "</rdf:RDF>"), strstr(sidecar, "</rdf:RDF>"));
    assert_int_equal(vit_xmp_read(&xmp, text, strlen(text), "s", NULL), VIT_OK);
    assert_true(vit_xmp_has(&xmp, VIT_XMP_HIERARCHICAL, "Animals|Cat & Co"));
    assert_true(vit_xmp_has(&xmp, VIT_XMP_OUR_SUBJECT, "Cat & Co"));
    assert_false(vit_xmp_has(&xmp, VIT_XMP_OUR_SUBJECT, "Old & dear"));
    vit_xmp_free(&xmp);
    assert_string_equal(edit(&twice, text, "Animals/Cat & Co"), text);
    /* Another answer takes ours away, and nobody else's, even if they are equal. */
    edit(&other, text, "Old & dear");
    assert_null(strstr(other.text, "Cat &amp; Co"));
    edit(&none, other.text, NULL);
    assert_non_null(strstr(none.text, LI("Old &amp; dear")));
    vit_string_free(&once);
    vit_string_free(&twice);
    vit_string_free(&other);
    vit_string_free(&none);
}

static void test_not_edited(void **state) {
    static const char *const forms[] = {
        BEGIN " dc:subject='in short'>" END,
        BEGIN "><dc:subject>plain</dc:subject>" END,
        BEGIN ">" BAG("dc:subject", "") BAG("dc:subject", "") END,
    };
    const vit_xmp_answer bad = {"a\x01", 0.5f}, good = {"a", 0.5f};
    vit_xmp_answers answers = {"m", &good, 1};
    vit_string out;
    vit_error error;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(vit_xmp_edit(&out, forms[i], strlen(forms[i]), "s", &answers, &error),
                         VIT_ERROR_UNSUPPORTED);
        assert_says(&error, VIT_ERROR_UNSUPPORTED, "s: its dc:subject is", "is not changed");
    }
    answers.answers = &bad;
    assert_int_equal(vit_xmp_edit(&out, sidecar, strlen(sidecar), "s", &answers, &error),
                     VIT_ERROR_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_embedded),   IN_DIRECTORY(test_extended),
        IN_DIRECTORY(test_sidecars),       IN_DIRECTORY(test_digikam),
        cmocka_unit_test(test_refused),    cmocka_unit_test(test_edited),
        cmocka_unit_test(test_not_edited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
