# Copyright (c) 2026 sunset.kube contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The built-in page in several languages: a table of words, and how a page's own text goes over it.

Room: maintenance (pure data).
"""

from __future__ import annotations

from collections.abc import Mapping

from .source import PageText

# What each word is for. `title` and `message` are also what programs read.
WORDS: Mapping[str, str] = {
    "title": "the heading",
    "message": "the text below it",
    "until": "the label of the planned end",
    "late": "shown instead of the time left once the planned end is over",
    "contact": "the label of the contact",
}
_RIGHT_TO_LEFT = frozenset({"ar", "fa", "he", "ur"})

_LANGUAGES: Mapping[str, tuple[str, str, str, str, str]] = {
    "ar": (
        "نعود قريبًا",
        "نُجري حاليًا أعمال صيانة. يُرجى المحاولة مرة أخرى بعد قليل.",
        "العودة المتوقعة",
        "يستغرق الأمر وقتًا أطول مما كان مخططًا له.",
        "للتواصل",
    ),
    "cs": (
        "Brzy budeme zpět",
        "Právě provádíme údržbu. Zkuste to prosím za chvíli znovu.",
        "Předpokládaný konec",
        "Trvá to déle, než jsme plánovali.",
        "Kontakt",
    ),
    "da": (
        "Vi er snart tilbage",
        "Vi udfører vedligeholdelse lige nu. Prøv igen om lidt.",
        "Forventes tilbage",
        "Det tager længere tid end planlagt.",
        "Kontakt",
    ),
    "de": (
        "Wir sind bald zurück",
        "Wir führen gerade Wartungsarbeiten durch. Bitte versuchen Sie es in Kürze noch einmal.",
        "Voraussichtlich zurück",
        "Es dauert länger als geplant.",
        "Kontakt",
    ),
    "en": (
        "We will be back soon",
        "We are carrying out maintenance right now. Please try again in a little while.",
        "Expected back",
        "It is taking longer than planned.",
        "Contact",
    ),
    "es": (
        "Volvemos pronto",
        "Estamos realizando tareas de mantenimiento. Vuelva a intentarlo dentro de un momento.",
        "Regreso previsto",
        "Está tardando más de lo previsto.",
        "Contacto",
    ),
    "fi": (
        "Palaamme pian",
        "Teemme parhaillaan huoltotöitä. Yritä hetken kuluttua uudelleen.",
        "Arvioitu paluu",
        "Huolto kestää suunniteltua pidempään.",
        "Yhteystiedot",
    ),
    "fr": (
        "Nous revenons bientôt",
        "Une opération de maintenance est en cours. Merci de réessayer dans quelques instants.",
        "Retour prévu",
        "Cela prend plus de temps que prévu.",
        "Contact",
    ),
    "he": (
        "נחזור בקרוב",
        "אנו מבצעים כעת עבודות תחזוקה. אנא נסו שוב בעוד זמן קצר.",
        "חזרה משוערת",
        "זה לוקח יותר זמן מהמתוכנן.",
        "יצירת קשר",
    ),
    "it": (
        "Torniamo presto",
        "Stiamo eseguendo lavori di manutenzione. Riprovi tra qualche minuto.",
        "Ritorno previsto",
        "Ci vuole più tempo del previsto.",
        "Contatto",
    ),
    "ja": (
        "まもなく再開します",
        "ただいまメンテナンスを行っています。しばらくしてからもう一度お試しください。",
        "再開予定",
        "予定より時間がかかっています。",
        "お問い合わせ",
    ),
    "ko": (
        "곧 돌아오겠습니다",
        "현재 점검 중입니다. 잠시 후 다시 시도해 주세요.",
        "재개 예정",
        "예정보다 시간이 더 걸리고 있습니다.",
        "문의",
    ),
    "nb": (
        "Vi er snart tilbake",
        "Vi utfører vedlikehold akkurat nå. Prøv igjen om litt.",
        "Forventes tilbake",
        "Det tar lengre tid enn planlagt.",
        "Kontakt",
    ),
    "nl": (
        "We zijn zo terug",
        "Er wordt op dit moment onderhoud uitgevoerd. Probeer het over enkele ogenblikken opnieuw.",
        "Verwacht terug",
        "Het duurt langer dan gepland.",
        "Contact",
    ),
    "pl": (
        "Wkrótce wracamy",
        "Trwają prace konserwacyjne. Prosimy spróbować ponownie za chwilę.",
        "Przewidywany powrót",
        "Prace trwają dłużej, niż planowano.",
        "Kontakt",
    ),
    "pt": (
        "Voltamos em breve",
        "Estamos a realizar trabalhos de manutenção. Tente novamente dentro de instantes.",
        "Regresso previsto",
        "Está a demorar mais do que o previsto.",
        "Contacto",
    ),
    "pt-br": (
        "Voltamos em breve",
        "Estamos em manutenção no momento. Tente novamente em alguns instantes.",
        "Retorno previsto",
        "Está demorando mais do que o previsto.",
        "Contato",
    ),
    "sv": (
        "Vi är snart tillbaka",
        "Vi utför underhåll just nu. Försök igen om en liten stund.",
        "Beräknas vara tillbaka",
        "Det tar längre tid än planerat.",
        "Kontakt",
    ),
    "tr": (
        "Kısa süre sonra döneceğiz",
        "Şu anda bakım çalışması yapıyoruz. Lütfen biraz sonra tekrar deneyin.",
        "Tahmini dönüş",
        "Planlanandan uzun sürüyor.",
        "İletişim",
    ),
    "uk": (
        "Скоро повернемося",
        "Зараз тривають технічні роботи. Спробуйте, будь ласка, трохи згодом.",
        "Очікуване повернення",
        "Роботи тривають довше, ніж планувалося.",
        "Контакт",
    ),
    "zh": (
        "我们很快回来",
        "我们正在进行维护，请稍后再试。",
        "预计恢复时间",
        "所需时间比计划的要长。",
        "联系我们",
    ),
    "zh-tw": (
        "我們很快回來",
        "我們正在進行維護，請稍後再試。",
        "預計恢復時間",
        "所需時間比預期長。",
        "聯絡我們",
    ),
}
_SAME_AS = {"no": "nb", "zh-hant": "zh-tw", "zh-hk": "zh-tw", "iw": "he"}


def known_languages() -> tuple[str, ...]:
    return tuple(sorted(_LANGUAGES))


def words_of(text: PageText) -> dict[str, str]:
    """Every word of this page: the language's own, then the page's `words`, then its title and message."""
    words = {**_built_in(text.language), **text.words}
    given = {"title": text.title, "message": text.message}
    return {**words, **{name: value for name, value in given.items() if value.strip()}}


def missing_words(text: PageText) -> tuple[str, ...]:
    have = words_of(text)
    return tuple(word for word in WORDS if word not in have)


def direction_of(language: str) -> str:
    return "rtl" if language.lower().partition("-")[0] in _RIGHT_TO_LEFT else "ltr"


def _built_in(language: str) -> dict[str, str]:
    """`pt-BR` has words of its own, `de-AT` takes those of `de`; none for a language we do not have."""
    tag = language.lower()
    while tag:
        if row := _LANGUAGES.get(_SAME_AS.get(tag, tag)):
            return dict(zip(WORDS, row, strict=True))
        tag = tag.rpartition("-")[0]
    return {}
